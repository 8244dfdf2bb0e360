"""Entry point of the ``punish-fast`` command."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # What is imported stays; looking for garbage among it takes an eighth of the start. `prepare_kernels` ends this.
    gc.disable()
    from punish_fast.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
