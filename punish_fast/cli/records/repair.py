"""``punish-fast records repair``: remove invalid rows from a database.

JSON keys:
    database (string): Database.
    copy (string or null): Copy of the database before the repair. Null if all rows are valid.
    invalid (list of strings): Description of the first invalid row of each table.
    games (list of integers): Ids of the removed games.
"""

from punish_fast.cli.frame.options import CommonOptions, DatabaseOption, verb
from punish_fast.cli.frame.report import count, print_report


class RepairOptions(CommonOptions):
    """Options of ``records repair``."""

    database: DatabaseOption


@verb("punish-fast records repair --db games.db", stage="repair")
def repair(options: RepairOptions) -> None:
    """Remove invalid rows and their games from a database.

    The database is copied first. Other commands omit these games and exit with code 1. The copy contains all data of
    the database. After records player --delete or --anonymize, delete the copy.
    """
    from punish_fast.records.database import repair as repair_database

    report = repair_database(options.database)
    result = f"Removed {count(len(report['games']), 'game')} from {options.database}."
    then = ("records", "summary", "--db", options.database)
    options.print(report, lambda told: print_report(told | {"games": len(report["games"])}), result=result, then=then)
