"""``punish-fast play``: play Punish in the terminal.

JSON keys:
    *rules_report
    seed (string): Random seed of the games.
    players (list of strings): Names of the players, in the order of the seats.
    database (string or null): Database where the games were saved.
    games (list of objects): Finished games.
        game (integer or null): Id of the game in the database. Null if the game was not saved.
        winner (string): Name of the winner.
        breaths (list of objects): Breaths of the game.
            states (list of strings): State codes of both players.
            actions (list of strings): Actions of both players.
        worst (string or null): Your worst choice, in a sentence. Null if no choice lost a point, or if two users or two
            agents played.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from punish_fast.cli.frame.options import CommonOptions, KeptGamesOption, SeedOption, argument, game_rules, option, verb
from punish_fast.cli.frame.report import UsageError, count, print_json, say
from punish_fast.cli.playing.table import asks_on, must_have_input, rules_note, seed_of, table_stream, wants_more
from punish_fast.cli.records.selection import check_database, games_database
from punish_fast.punish.rules import PRESETS, load_rules, rules_report
from punish_fast.records.names import PlayerNameError, checked_name
from punish_fast.runtime.errors import printable
from punish_fast.runtime.interrupts import uninterrupted

if TYPE_CHECKING:
    from punish_fast.arena.player_group import PlayerGroup
    from punish_fast.play.explain.why import Explainer
    from punish_fast.play.punish.match import Finished, PunishMatch
    from punish_fast.play.session import SessionPlayer

_YOU = "you"


class PlayOptions(CommonOptions):
    """Options of ``play``."""

    agents: list[str] | None = argument(
        "AGENT",
        "Opponent: a built-in agent (see `agents`) or a file. Append @resolve to solve each measure again after its "
        "deal.  [default: veteran; naive if the rules are not tabletop]",
    )
    coach: bool = option("Show the win probability of each move, and the enemy's possible moves.", default=False)
    against: str | None = option(
        "Reference player of the coach and your worst choice.  [default: veteran; naive if the rules are not tabletop]",
        metavar="AGENT",
    )
    hotseat: bool = option("Play with two users at one screen. It is cleared between turns.", default=False)
    watch: bool = option("Watch two agents play.", default=False)
    name: list[str] | None = option("Your name in the records. Give two for --hotseat.  [default: you]", metavar="NAME")
    db: KeptGamesOption = None
    rules: str | None = game_rules("the rules of the first file, or tabletop")
    seed: SeedOption = None


@verb(
    "punish-fast play",
    "punish-fast play naive --coach",
    "punish-fast play agent.h5 --seed 7",
    "punish-fast play --hotseat --name Ann --name Ben",
    "punish-fast play --watch veteran naive",
)
def play(options: PlayOptions) -> None:
    """Play Punish in the terminal, against the program or between two human players.

    In every breath, both players secretly pick one of their cards, and the two cards clash. Rush, strike and punish
    deal 1, 2 and 3 damage. A guard absorbs 1 damage, a dodge evades every attack except a rush, and equal cards cancel
    each other out. After a punish, its player rests in the next breath. Once per measure of four breaths, you can
    feint: discard a card, and play the top card of the deck instead. A player without HP loses.

    Type s or strike to play a card, f strike to feint with it, and ? for the rules that apply right now. Finished games
    are saved for `improve` and `records`. With --json, the game is shown on stderr.
    """
    people = _people(options)
    if people:
        must_have_input()
    lineup = _lineup(options, len(people))
    database = games_database(options.db, lineup.rules)
    options.check_outputs(database, sources=lineup.files)
    if database is not None:
        _checked(lineup.names, [])
        check_database(database)
    _checked(people, lineup.names)
    session = _Session(options, people, lineup, database)
    try:
        session.play()
    except KeyboardInterrupt:
        session.console.print()
        session.finish()
        raise
    session.finish()


def _people(options: PlayOptions) -> list[str]:
    from punish_fast.arena.built_in_players import RESERVED
    from punish_fast.records.logs import BOTS

    if options.watch and (options.hotseat or options.coach or options.name or options.against):
        raise UsageError("--watch cannot be combined with --hotseat, --coach, --against or --name")
    n_people = 0 if options.watch else 2 if options.hotseat else 1
    default = {0: [], 1: [_YOU], 2: ["player 1", "player 2"]}[n_people]
    names = _checked(options.name or default, [*BOTS, *RESERVED])
    if len(names) != n_people or len(set(names)) < n_people:
        raise UsageError(f"--name: {('one name', 'two different names')[n_people - 1]} must be given")
    return names


def _checked(names: list[str], taken: list[str]) -> list[str]:
    """Return names in their stored form. Raise UsageError if a name is invalid or resembles one in ``taken``."""
    try:
        return [checked_name(name, taken) for name in names]
    except PlayerNameError as error:
        raise UsageError(f"--name: {error}") from None


def _lineup(options: PlayOptions, n_people: int) -> PlayerGroup:
    from punish_fast.arena import veteran
    from punish_fast.arena.player_group import PlayerGroup

    agents = options.agents or []
    wanted = 2 - n_people
    if len(agents) > wanted or (options.watch and len(agents) != wanted):
        fault = f"{count(len(agents), 'agent')} named instead of {('none', 'one', 'two')[wanted]}"
        hint = "; --watch takes two, such as --watch veteran naive"
        raise UsageError(fault + hint * (not n_people or agents[1:] != []))
    rules = None if options.rules is None else load_rules(options.rules)
    default = veteran.NAME if rules is None else veteran.default_opponent(rules)
    # An agent can play against itself.
    return PlayerGroup(list(dict.fromkeys(agents)) or [default], rules)


class _Session:
    """Successive games between the same players."""

    def __init__(self, options: PlayOptions, people: list[str], lineup: PlayerGroup, database: Path | None) -> None:
        from punish_fast.mdp.objectives.solver import SWEEPS
        from punish_fast.play.game_data import GameData
        from punish_fast.play.punish.match import MATCH, play_ahead
        from punish_fast.play.punish.screen import Screen, open_console
        from punish_fast.play.session import HumanPlayer, numbered
        from punish_fast.punish.states.space import StateSpace
        from punish_fast.punish.transitions.tensor import POLICY_ROWS, TENSOR

        self.options = options
        self.rules, self.files = lineup.rules, lineup.files
        self.about = lineup.about[0] if lineup.files or lineup.resolving else ""
        self.seed = seed_of(options.seed)
        with options.stages.progress.stage("preparing the game"):
            coached = [*TENSOR, SWEEPS, POLICY_ROWS] if people else []
            space, opponents = lineup.in_game(MATCH, coached, remembers=True)
            self.table = GameData(space)
            play_ahead(self.table)
            self.view = space if space.is_memoryless else StateSpace(space.rules)
        self.database = database
        self.is_new = database is not None and options.db is None and not database.exists()
        agents = (opponents * 2)[: 2 - len(people)]
        called = numbered([each.name for each in agents])
        agents = [replace(each, name=name) for each, name in zip(agents, called, strict=True)]
        self.seats: list[SessionPlayer] = [*map(HumanPlayer, people), *agents]
        self.opponent = opponents[0]
        self.console = open_console(table_stream(options.as_json))
        self._ask = asks_on(self.console.file)
        self.opponent_name = printable(lineup.people[0])
        names = [_YOU] if len(people) == 1 else people
        names = numbered([printable(name) for name in [*names, *lineup.people * 2]][:2])
        self.screen = Screen(self.console, self.rules, (names[0], names[1]))
        self.games: list[dict[str, Any]] = []
        if options.coach or options.against is not None:
            _ = self.judge

    @cached_property
    def judge(self) -> tuple[Explainer, str]:
        """Judge of choices, and the name of its reference player."""
        from punish_fast.play.explain.why import judge_by

        with self.options.stages.progress.stage("solving"):
            explainer, reference = judge_by(self.options.against, self.rules)
        return explainer, printable(reference.person)

    def play(self) -> None:
        from punish_fast.play.session import LeaveError

        self._welcome()
        try:
            while True:
                self._play_one(len(self.games))
                if self.options.watch or not sys.stdin.isatty() or not wants_more(self._ask):
                    return
        except (LeaveError, EOFError):
            self.console.print("\n  You left the game; unfinished games are not saved.")

    def _play_one(self, number: int) -> None:
        from punish_fast.play.punish.match import PunishMatch
        from punish_fast.play.punish.terminal import PunishTerminal
        from punish_fast.play.session import PlaySession

        match = PunishMatch(self.table, self.seed, number)
        session = PlaySession(match, self.seats)
        PunishTerminal(
            session,
            self.table,
            self.screen,
            self._ask,
            coach=lambda: self.judge,
            coaches=self.options.coach,
            confirms=sys.stdin.isatty(),
            hides=self._hide if self.options.hotseat else None,
        ).play()
        assert session.winner is not None
        self._keep(match, session.winner)

    def _keep(self, match: PunishMatch, winner: int) -> None:
        from punish_fast.play.punish.match import Finished
        from punish_fast.punish.codes import action_name

        with uninterrupted() as interrupts:
            game = Finished(match, self.seats, winner)
            game_id = None if self.database is None else self._kept(game, interrupts)
            breaths = [
                {"states": [*map(str, x.states)], "actions": [*map(action_name, x.actions)]} for x in match.breaths
            ]
            self.games.append({"game": game_id, "winner": self.seats[winner].name, "breaths": breaths, "worst": None})
        if self.is_new:
            self.is_new = False
            say("your games are saved on this machine; --db chooses another database")
        is_alone = not (self.options.hotseat or self.options.watch)
        if is_alone and (sys.stdin.isatty() or self.options.as_json):
            self.games[-1]["worst"] = self._costliest_choice(game)

    def _costliest_choice(self, game: Finished) -> str | None:
        """Print and return the user's worst choice. Return None if no choice lost a point."""
        from punish_fast.play.explain.review import Judge

        record, won = game.record(), game.winner == 0
        judge, reference = self.judge
        side = Judge(judge.data.space, judge.solution).side(record.winner if won else record.loser, won)
        worst = side.worst(1)
        found = f"{worst[0].words} That cost you most." if worst else "No choice of yours lost a point."
        self.screen.say(f"{found} Judged by the best choices against {reference}.")
        return worst[0].words if worst else None

    def _kept(self, game: Finished, interrupts: list[int]) -> int:
        """Store a game and return its id. Retry while another process locks the database, until interrupted."""
        from punish_fast.records.database import LockedError

        is_told = False
        while True:
            try:
                return game.keep(self.view, self.database)
            except LockedError:
                if interrupts:
                    raise
            if not is_told:
                say(f"{self.database} is locked by another process; waiting to save your game, Ctrl-C discards it")
            is_told = True

    def _welcome(self) -> None:
        from punish_fast.arena.built_in_players import BUILT_INS
        from punish_fast.arena.veteran import supports

        self.screen.say(f"Punish, {rules_note(self.rules)}seed {self.seed}")
        if self.options.hotseat or self.options.watch:
            self.screen.say(f"{self.screen.names[0]} plays {self.screen.names[1]}.")
        else:
            known, opponent, about = BUILT_INS.get(self.opponent.name), self.opponent_name, self.about
            # A file can have the name of a built-in player.
            if known is not None and known.person == opponent:
                strength = f"; {known.strength}" if supports(self.rules) else ""
                opponent, about = f"{opponent} ({self.opponent.name})", f"{known.about}{strength}"
            self.screen.say(f"Your opponent is {opponent}{about and f': {about}'}.")
        if not self.options.watch:
            self.screen.say(
                "In every breath both players secretly pick a card; then the cards clash. Reduce the other player to "
                "0 HP to win. Type ? whenever you are unsure."
            )

    def _hide(self, name: str | None) -> None:
        """Wait until the named player is ready. If ``name`` is None, clear the screen after a turn."""
        if not sys.stdin.isatty():
            return
        if name is not None:
            self._ask(f"\n  {name}: press Enter when the other player is looking away. ")
            return
        self.console.clear()
        # Also clear the scrollback buffer.
        has_codes = not (self.console.is_dumb_terminal or self.console.legacy_windows)
        self.console.file.write("\033[3J" if has_codes else "\n" * 200)

    def finish(self) -> None:
        from punish_fast.arena.players import Player

        if self.options.as_json:
            players = [player.name for player in self.seats]
            report = {**rules_report(self.rules), "seed": str(self.seed), "players": players}
            print_json(report | {"database": self.database, "games": self.games})
        elif self.games and self.database is not None:
            source = "--db", self.options.db, "--rules", self.options.rules
            agents: list[str | None] = [self.options.against]
            if self.options.rules is None and self.rules != PRESETS["tabletop"]:
                # These rules can only be read from the file of a judge, which must be memoryless.
                judges = [Player(str(name)) for name in (*agents, *self.files) if name]
                agents = [judge.argument for judge in judges if judge.rules and judge.information == "memoryless"]
            if agents:
                self.options.suggest("records", "review", "--agent", agents[0], *source)
