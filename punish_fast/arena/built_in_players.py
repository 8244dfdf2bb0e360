"""Built-in players: names, descriptions and strengths."""

from dataclasses import dataclass

# Win probability of the exploiter ``belief`` against the veteran. It is the highest known, but not an upper bound.
EXPLOITER_WINS = 0.545


@dataclass(frozen=True)
class BuiltIn:
    """Description of a built-in player."""

    person: str  # name in the terminal and on the web
    about: str
    wins: float | None  # win probability against the veteran under the standard rules, or None for the veteran
    level: str | None = None  # level on the start page

    @property
    def strength(self) -> str:
        """Description of the player's strength under the standard rules."""
        if self.wins is None:
            return f"the best opponent found with the same memory wins only {100 * EXPLOITER_WINS:.1f} of 100 games"
        return f"wins {100 * self.wins:.0f} of 100 games against Viktor, the veteran"


# Built-in players by the name used in commands.
BUILT_INS = {
    "random": BuiltIn("Robin", "plays every legal action with equal probability", 0.3127),
    "naive": BuiltIn("Nina", "plays the moves that are best against random cards", 0.4797),
    "careful": BuiltIn("Clara", "guards or dodges if it can, and attacks a resting enemy", 0.2328, "easy"),
    "aggressive": BuiltIn("Axel", "plays its strongest attack, and feints only without one", 0.4248, "medium"),
    "punisher": BuiltIn("Pia", "dodges until the enemy rests, then plays its strongest attack", 0.2677),
    "veteran": BuiltIn("Viktor", "mixes its moves and is hard to predict, but knows only the standard rules", None),
}

# Names that human players cannot use.
RESERVED = (*BUILT_INS, *(each.person for each in BUILT_INS.values()))


def person_of(name: str, is_bot: bool | None = True) -> str:
    """Return the displayed name: replace the name of a built-in player by a first name, and keep other names."""
    known, _, _ = name.partition("@")
    return name.replace(known, BUILT_INS[known].person, 1) if is_bot is not False and known in BUILT_INS else name
