"""``punish-fast games decks``: search for decks of Gwent Lite by a genetic algorithm.

JSON keys:
    game (string): Name of the game.
    method (object): Hyperparameters by name, as described by `games methods`.
    seed (integer): Random seed.
    generations (integer): Number of generations.
    pool_games (integer): Number of games between decks in the pool.
    fresh_games (integer): Number of games against random decks.
    curve (list of objects): Progress by generation.
        generation (integer): Number of the generation, counted from 0.
        spread (number): Standard deviation of the decks' strengths.
        error (number): Standard error of a deck's strength in the pool.
        strength (number, from -1 to 1): Wins minus losses of the survivors against random decks, as a share of games.
        strength_error (number): Standard error of `strength`.
    spread (number): Standard deviation of the decks' strengths over all generations.
    error (number): Standard error of a deck's strength over all generations.
    beats_noise (boolean): True if the spread exceeds the error.
    best (list of objects): Best decks of the last generation.
        deck (list of integers): Cards.
        text (string): Cards, in words.
        since (integer): Generation when the deck joined the pool.
        strength (number, from -1 to 1): Wins minus losses against random decks, as a share of games.
        strength_error (number): Standard error of `strength`.
        fresh_games (integer): Number of games against random decks.
    seconds (object of numbers by stage, seconds): Duration of each stage, and the `total`.
    output (string or null): Output file.
"""

import json
from collections import Counter
from typing import Any

from punish_fast.cli.frame.options import OutputOption, option, verb
from punish_fast.cli.frame.report import plain, print_report, print_rows, print_text, thinned
from punish_fast.cli.frame.settings import changes_of
from punish_fast.cli.games.options import LearningOptions


class DecksOptions(LearningOptions):
    """Options of ``games decks``."""

    generations: int = option("Number of generations.", default=40)
    output: OutputOption = None


@verb(
    "punish-fast games decks gwent",
    "punish-fast games decks gwent -o decks.json",
    "punish-fast games decks gwent --set player=random",
    "punish-fast games decks gwent --generations 60 --set pool=20 --set survivors=4 --json",
)
def decks(options: DecksOptions) -> None:
    """Search for good decks of Gwent Lite with a genetic algorithm, and compare them with random decks.

    In each generation, all decks of a pool play against each other. The best decks survive, and copies of them with
    changed cards join the pool. With -o, the report is written to a .json file. `play`, `show` and `serve` accept this
    file as --decks.
    """
    from punish_fast.games.gwent.deck_search import DeckSearch, SearchMethod, best_decks, curve_of, noise_of, run_search
    from punish_fast.runtime.files import write_text

    game = options.make("decks")
    options.check_outputs(options.output, endings=[".json"])
    method = SearchMethod(**changes_of(SearchMethod, options.settings or ()))
    search, clock, progress = DeckSearch(method, options.seed), options.stages.clock, options.stages.progress

    def on_games(done: int, total: int) -> None:
        if done < total:
            number = len(search.history) + 1
            progress.show(f"generation {number} of {options.generations}: {done:,} of {total:,} games")

    with clock("search"):
        run_search(search, options.generations, progress.steps("generations"), on_games)
    with clock("measure"):
        best, (spread, error) = best_decks(search, n=3), noise_of(search.history)
    report = {
        "game": game.name,
        "method": method,
        "seed": search.seed,
        "generations": len(search.history),
        "pool_games": len(search.history) * method.games * method.pool * (method.pool - 1) // 2,
        "fresh_games": len(search.history) * best[0]["fresh_games"],
        "curve": curve_of(search),
        "spread": spread,
        "error": error,
        "beats_noise": spread > error,
        "best": best,
        "seconds": clock.seconds_in_all(),
        "output": options.output,
    }
    if options.output is not None:
        write_text(options.output, json.dumps(plain(report)))
    gain, error = 100 * best[0]["strength"], 100 * best[0]["strength_error"]
    result = f"The best deck wins {gain:.1f} more of 100 games against random decks than it loses (+- {error:.1f})."
    then = ["play", game.name, "--decks", options.output]
    if options.output is None:
        then = ["decks", game.name, "-o", "decks.json"]
    options.print(report, _print_decks, result=result, then=("games", *then))


def _print_decks(report: dict[str, Any]) -> None:
    """Print the strength of the best decks, their cards, and the course of the search."""
    more = "luck than on strength; play more games per pair, such as --set games=1000"
    print_text(f"Results in the search depend more on {'strength than on luck' if report['beats_noise'] else more}.")
    print()

    def cards(each: dict[str, Any]) -> str:
        return ", ".join(f"{copies} x {card}" for card, copies in sorted(Counter(each["deck"]).items()))

    best = [{"rank": rank, "cards": cards(each), **each} for rank, each in enumerate(report["best"], 1)]
    columns = {"best decks": "{rank}", "wins minus losses in 100 games": "{strength:+.1p}", "cards": "{cards}"}
    print_rows(best, columns, left=[True, False, True])
    columns = {"generation": "{generation}", "wins minus losses": "{strength:+.1p}"}
    title = "progress: wins minus losses of the surviving decks in 100 games against random decks"
    print_rows(thinned(report["curve"]), columns, left=0, indent="  ", title=title)
    print()
    print_report({name: report[name] for name in ("method", "seed", "generations", "seconds", "output")})
