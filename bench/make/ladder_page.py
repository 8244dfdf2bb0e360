"""The table of solvers in ``docs/mdp-methods.md``: ``python -m bench.make.ladder_page``.

The docstring of ``punish_fast/mdp/ladder.py`` describes each rung in a section ``Rungs``::

    loose bound (`Total`): The values of the elimination.
        for: total rewards and probabilities
        limits: an error bound of 1e-3 times the largest value
        next: none
"""

import re

from bench.harness import ROOT
from punish_fast.mdp import ladder

PAGE = ROOT / "docs" / "mdp-methods.md"
# Text between these lines of the page is generated.
BEGIN, END = "<!-- ladder: begin -->\n", "<!-- ladder: end -->\n"
_RUNG = re.compile(r"^    (\w.*) \(`(\w+)`\): (.*)\n        for: (.*)\n        limits: (.*)\n        next: (.*)$", re.M)


def described() -> list[tuple[str, ...]]:
    """Return the name, problem, method, use, limits and successor of each rung in the docstring."""
    return [match.groups() for match in _RUNG.finditer(ladder.__doc__ or "")]


def table() -> str:
    """Return the table of rungs in Markdown."""
    rows = [("step", "method", "for", "limits", "if it fails"), ("---",) * 5]
    rows += [(name, method, use, limits, after) for name, _, method, use, limits, after in described()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows).replace("| --- |", "|---|").replace(" --- |", "---|")


def page() -> str:
    """Return the page with the current table."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
