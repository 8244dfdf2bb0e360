"""Metadata that contain the repository's address: the package's links, and README.md as its description."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class RepositoryLinks(MetadataHookInterface):
    """Set ``urls``, and ``readme`` with absolute links, which PyPI needs; both lead to the version that is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add both to the package's metadata."""
        address, tag = self.config["repository"], f"v{metadata['version']}"
        metadata["urls"] = {
            "Repository": address,
            "Documentation": f"{address}/tree/{tag}/docs",
            "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
            "Issues": f"{address}/issues",
        }

        def absolute(link: re.Match[str]) -> str:
            return f"{link[1]}{address}/{'raw' if link[2].endswith('.png') else 'blob'}/{tag}/{link[2]}"

        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = re.sub(r'(\]\(|src=")(?!https?:|#)([^)"\s]+)', absolute, text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
