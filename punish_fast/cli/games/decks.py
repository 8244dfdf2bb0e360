"""``punish-fast games decks``: a genetic search over decks of Gwent Lite."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from punish_fast.cli.errors import UsageError, say
from punish_fast.cli.games.options import GameArgument
from punish_fast.cli.games.train import shown_points
from punish_fast.cli.options import (
    ComputeOptions,
    OutputOption,
    option,
    verb,
)
from punish_fast.cli.outputs import check_outputs, default_output
from punish_fast.cli.report import Progress, Stopwatch, count, print_table

if TYPE_CHECKING:
    from punish_fast.learn.deck_search import DeckSearch

_SETTINGS = ("pool", "games", "survivors", "newcomers", "deviation", "player")
# How many decks of the last generation to tell.
_N_BEST = 3


@dataclass(frozen=True, kw_only=True)
class DecksOptions(ComputeOptions):
    """Options of ``games decks``."""

    game: GameArgument
    preset: Annotated[
        Literal["default", "documents"] | None,
        option("Settings; documents has so few games that a fitness is mostly luck.  [default: default]"),
    ] = None
    player: Annotated[
        Literal["rule-of-thumb", "random"] | None,
        option("Who plays all games, on both sides.  [default: rule-of-thumb; of documents: random]"),
    ] = None
    pool: Annotated[
        int | None, option("Decks that meet in each generation.  [default: 50; of documents: 20]", metavar="N")
    ] = None
    games: Annotated[
        int | None,
        option("Games of each two decks in a generation, even.  [default: 400; of documents: 2]", metavar="N"),
    ] = None
    survivors: Annotated[
        int | None, option("Decks that stay, the fittest.  [default: 10; of documents: 4]", metavar="N")
    ] = None
    newcomers: Annotated[
        int | None, option("Random decks that join each generation.  [default: 5; of documents: 2]", metavar="N")
    ] = None
    deviation: Annotated[
        float | None,
        option(
            "Standard deviation of what is added to each card of offspring.  [default: 0.7; of documents: 1]",
            metavar="D",
        ),
    ] = None
    generations: Annotated[int | None, option("Generations in all.  [default: 40]", metavar="N")] = None
    seed: Annotated[int | None, option("Random seed.  [default: 0]", metavar="N")] = None
    resume: Annotated[
        bool, option("Resume the search of the output; more --generations make it longer.", "--resume")
    ] = False
    output: OutputOption = None

    def given(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        return {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}


@verb(
    "punish-fast games decks gwent",
    "punish-fast games decks gwent --player random",
    "punish-fast games decks gwent --preset documents -o few.h5",
    "punish-fast games decks gwent --generations 60 --resume",
)
def decks(options: DecksOptions) -> None:
    """Breed decks by a genetic search, and measure them against random ones.

    In each generation all decks of a pool meet; the fittest survive, and have
    offspring with other cards. By default written to GAME-decks.h5, which is a
    checkpoint after each generation.
    """
    from punish_fast.games.registry import entry_of
    from punish_fast.learn.deck_file import load_search, save_search
    from punish_fast.learn.deck_search import run_search

    entry_of(options.game, "decks")
    output = options.output or Path(f"{options.game}-decks.h5")
    check_outputs([output], [], "breed")
    running = _search(options, output)
    if options.output is None and not options.resume:
        default_output(output, _settings(running), lambda path: _settings(load_search(path)))
    clock, progress, before = Stopwatch(), Progress(options.quiet), len(running.history)

    def on_games(done: int, total: int) -> None:
        if done < total:
            number = len(running.history) + 1
            progress.show(f"generation {number} of {running.wanted}: {done:,} of {total:,} games")

    def on_generation() -> None:
        save_search(output, running)
        progress.step("generations", len(running.history), running.wanted)

    progress.start()
    with clock("search"):
        try:
            run_search(running, on_generation, on_games)
        except KeyboardInterrupt:
            progress.clear()
            # Generations are whole, also after an interrupt.
            if len(running.history) > before:
                save_search(output, running)
                say(f"{output} is a checkpoint; resume with --resume")
            raise
    progress.clear()
    # Also where there was nothing left to do, but perhaps to wish for.
    save_search(output, running)
    with clock("measure"):
        report = _report(options, running, output, len(running.history) - before)
    method = str(running.method)
    options.print(report | {"seconds": clock.seconds}, lambda report: _print(report, method))


def _search(options: DecksOptions, output: Path) -> DeckSearch:
    """The search to run, new or from the output."""
    from punish_fast.learn.deck_file import load_search
    from punish_fast.learn.deck_search import PRESETS, DeckSearch, SearchMethod

    if options.resume and output.exists():
        found = load_search(output)
        _must_agree(output, found, options)
        generations = found.wanted if options.generations is None else options.generations
        if generations == len(found.history):
            done = f"all of its generations are done ({generations})"
            say(f"{output}: {done}; for more, name a higher number by --generations")
        return DeckSearch(found.method, found.seed, generations, found.history)
    preset = PRESETS[options.preset or "default"]
    wanted = preset.generations if options.generations is None else options.generations
    return DeckSearch(SearchMethod(**_wanted(options)), options.seed or 0, wanted)


def _wanted(options: DecksOptions) -> dict[str, Any]:
    """The settings of the preset, and in their place those that were given."""
    from punish_fast.learn.deck_search import PRESETS

    return asdict(PRESETS[options.preset or "default"].method) | options.given()


def _must_agree(output: Path, found: DeckSearch, options: DecksOptions) -> None:
    """Check that a search to resume has the settings and the random seed that are wanted."""
    wanted = options.given() if options.preset is None else _wanted(options)
    if options.seed is not None:
        wanted["seed"] = options.seed
    settings = _settings(found)
    for name, value in wanted.items():
        if settings[name] != value:
            raise UsageError(f"{output}: was made with {name} {settings[name]}, not {value}")


def _settings(search: DeckSearch) -> dict[str, Any]:
    """What decides which decks are found."""
    return {**asdict(search.method), "generations": search.wanted, "seed": search.seed}


def _report(options: DecksOptions, search: DeckSearch, output: Path, bred: int) -> dict[str, Any]:
    from punish_fast.learn.deck_search import best_decks, curve_of, deck_text, first_seen, noise_of

    spread, error = noise_of(search.history)
    method = search.method
    return {
        "game": options.game,
        "method": asdict(method),
        "seed": search.seed,
        "generations": len(search.history),
        "bred": bred,
        "pool_games": bred * method.games * method.pool * (method.pool - 1) // 2,
        "fresh_games": sum(each.fresh.games for each in search.history[-bred:]) if bred else 0,
        "curve": curve_of(search),
        "spread": spread,
        "error": error,
        "beats_noise": spread > error,
        "best": [
            {
                "deck": deck.tolist(),
                "text": deck_text(deck),
                "since": first_seen(search, deck),
                "strength": fresh.strength,
                "strength_error": fresh.error,
                "fresh_games": fresh.games,
            }
            for deck, fresh in best_decks(search, _N_BEST)
        ],
        "output": output,
    }


def _print(report: dict[str, Any], method: str) -> None:
    print(method)
    print()
    print("mean of wins less losses of a game, standard errors in brackets")
    head = ["generation", "survivors against random decks", "spread of decks", "error of a fitness"]
    rows = [
        [
            str(point["generation"]),
            f"{point['strength']:+.4f} ({point['strength_error']:.4f})",
            f"{point['spread']:.4f}",
            f"{point['error']:.4f}",
        ]
        for point in shown_points(report["curve"])
    ]
    print_table([head, *rows], left=0)
    print()
    verdict = "beats its noise" if report["beats_noise"] else "does not beat its noise"
    print(f"over all generations: spread {report['spread']:.4f}, error {report['error']:.4f}: selection {verdict}")
    print()
    fresh = report["best"][0]["fresh_games"]
    print(f"the fittest decks of the last generation, each in {fresh:,} fresh games against random decks")
    rows = [
        [each["text"], f"{each['strength']:+.4f} ({each['strength_error']:.4f})", str(each["since"])]
        for each in report["best"]
    ]
    print_table([["card x copies", "strength", "since generation"], *rows])
    print()
    told = f"{report['pool_games']:,} games in the pool, {report['fresh_games']:,} against random decks"
    print(f"{count(report['bred'], 'generation')} in {report['seconds']['search']:.1f} s: {told}")
    print(f"wrote {report['output']}")
