"""The tables of ``docs/formats.md``, written from the schema.

``python tests/store/page.py`` writes them anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from punish_fast.store import schema
from punish_fast.store.relations import RELATIONS
from punish_fast.store.schema import Attribute, Dataset

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
_TYPES = {"int": "whole number", "float": "number", "json": "JSON object", "ints": "2 whole numbers"}
_TYPES |= {"floats": "2 numbers", "text": "text"}


def _range(of: Attribute | Dataset) -> str:
    return schema.range_text(of.low, of.high) + (", or NaN" if of.may_be_nan else "")


def _kinds(kinds: tuple[str, ...], optional: tuple[str, ...]) -> str:
    return ", ".join(f"({kind})" if kind in optional else kind for kind in kinds)


def _of_attribute(attribute: Attribute) -> str:
    allowed = ", ".join(attribute.allowed) or (f"`{attribute.pattern}`" if attribute.pattern else "")
    if attribute.type in ("int", "float", "floats"):
        allowed = _range(attribute)
    everywhere = set(attribute.kinds) == set(schema.ALL_KINDS)
    kinds = "all" if everywhere else _kinds(attribute.kinds, attribute.optional)
    return f"| `{attribute.name}` | {kinds} | {_TYPES[attribute.type]} | {allowed} |"


def _of_dataset(dataset: Dataset) -> str:
    optional = dataset.kinds if dataset.when is not None else dataset.optional
    shape = ", ".join(map(str, dataset.shape))
    notes = [dataset.about] if dataset.about else []
    notes += [f"only with {dataset.when}"] if dataset.when is not None else []
    notes += [relation.law for relation in RELATIONS if relation.dataset == dataset.name]
    kinds = _kinds(dataset.kinds, optional)
    return f"| `{dataset.name}` | {kinds} | {dataset.dtype} `[{shape}]` | {_range(dataset)} | {'; '.join(notes)} |"


def tables() -> dict[str, list[str]]:
    """The lines of each table, by its marker."""
    return {
        "attributes": ["| attribute | kinds | type | allowed |", "|---|---|---|---|"]
        + [_of_attribute(attribute) for attribute in schema.ATTRIBUTES],
        "datasets": ["| dataset | kinds | dtype and shape | numbers | |", "|---|---|---|---|---|"]
        + [_of_dataset(dataset) for dataset in schema.DATASETS],
    }


def written(text: str) -> str:
    """The page with all tables written anew."""
    for name, lines in tables().items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        block = "\n".join([begin, "", *lines, "", end])
        text = re.sub(f"{begin}.*?{end}", lambda _: block, text, flags=re.DOTALL)  # noqa: B023
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
