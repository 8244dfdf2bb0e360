"""``punish-fast records import``: import logs into a database.

JSON keys:
    files (list of objects): Logs.
        file (string): Path of the log.
        layout (string): Layout of the log: `breaths`, `games` or `database`.
        digest (string): SHA-256 digest of the log.
        games (integer): Number of games in the log.
        flaw (string or null): Reason why the log was not read to its end.
    games (integer): Number of games in all logs.
    imported (integer): Number of games added to the database.
    known (integer): Number of games that were already in the database.
    rejected (integer): Number of rejected games.
    cut_off (integer): Number of logs that were not read to their end.
    rejected_by_kind (object of integers by fault): Number of games rejected for each fault.
    warnings_by_kind (object of integers by fault): Number of games with a warning for each fault.
    remarks (list of objects): Rejections and warnings.
        verdict (string): `rejected` or `warning`.
        kind (string): Fault.
        reason (string): Fault in words.
        game (integer or null): Id of the game. Null if the log has no valid id.
        players (list of strings): Players of the game.
        file (string): Path of the log.
"""

from pathlib import Path

from punish_fast.cli.frame.options import CommonOptions, DatabaseOption, PlayedRulesOption, argument, verb
from punish_fast.cli.frame.outputs import check_inputs
from punish_fast.cli.frame.report import CheckError, count


class RecordsImportOptions(CommonOptions):
    """Options of ``records import``."""

    files: list[Path] = argument("FILE", "Databases, or JSON logs with one object per game or per player and breath.")
    database: DatabaseOption
    rules: PlayedRulesOption = "tabletop"


@verb(
    "punish-fast records import saves.json --db games.db",
    "punish-fast records import one.json two.json --db games.db --json",
    "punish-fast records import friend.db --db games.db",
    stage="import",
)
def import_(options: RecordsImportOptions) -> None:
    """Check logs or other databases breath by breath and add their games to a database.

    The database is created if it does not exist. All valid games are added in one transaction. If a game is invalid or
    a log is cut off, the exit code is 1. Games already in the database are skipped.
    """
    from punish_fast.punish.rules import load_rules
    from punish_fast.punish.states.space import StateSpace
    from punish_fast.records.importing import import_logs
    from punish_fast.records.logs import REJECTED

    check_inputs(*options.files)
    options.check_outputs(options.database)
    report = import_logs(StateSpace(load_rules(options.rules)), options.files, options.database).as_mapping()
    faults = [f"{file['file']} {file['flaw']}" for file in report["files"] if file["flaw"]]
    if report["rejected"]:
        reason = next(remark["reason"] for remark in report["remarks"] if remark["verdict"] == REJECTED)
        faults.append(f"{count(report['rejected'], 'game')} rejected, the first because: {reason}")
    result = f"Added {report['imported']:,} of {count(report['games'], 'game')} to {options.database}."
    options.print(report, result=result, then=() if faults else ("records", "summary", *options.given("files")))
    if faults:
        raise CheckError("; ".join(faults))
