"""``punish-fast records summary``: summarize recorded games."""

from dataclasses import dataclass

from punish_fast.cli.frame.options import verb
from punish_fast.cli.records.selection import PlayedRulesOption, SelectionOptions


@dataclass(frozen=True, kw_only=True)
class SummaryOptions(SelectionOptions):
    """Options of ``records summary``."""

    rules: PlayedRulesOption = "tabletop"


@verb(
    "punish-fast records summary --db games.db",
    "punish-fast records summary --db games.db --player Joe --json",
    stage="summary",
)
def summary(options: SummaryOptions) -> None:
    """Summarize recorded games: their number and length, the states they visit, and who wins."""
    from punish_fast.punish.rules import load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.records.summary import read_results, summarise

    results = read_results(options.database, options.selection())
    report = summarise(results, StateSpace(load_rules(options.rules)))
    options.print({"database": str(options.database), **report})
