"""Incan Gold with a table, cards in lists and players as objects: slow, and written from the rules alone."""

from dataclasses import dataclass, field

GOLD = [1, 2, 3, 4, 5, 5, 7, 7, 9, 11, 11, 13, 14, 15]
HAZARDS = ["fire", "mummy", "rocks", "snakes", "spiders"]


@dataclass
class Explorer:
    safe: int = 0
    purse: int = 0
    is_inside: bool = False


@dataclass
class Table:
    """A game: ``draw`` and ``decide`` are called in turn, as `phase` says, until it says ``"over"``."""

    by_leaving: bool = False
    deck: list = field(default_factory=lambda: [*GOLD, *HAZARDS * 3])
    players: list[Explorer] = field(default_factory=lambda: [Explorer() for _ in range(3)])
    path: list = field(default_factory=list)
    loose: int = 0
    relics: list[int] = field(default_factory=list)
    n_taken: int = 0
    n_rounds: int = 0
    phase: str = ""

    def __post_init__(self) -> None:
        self._begin_round()

    def _begin_round(self) -> None:
        if self.n_rounds == 5:
            self.phase = "over"
            return
        self.n_rounds += 1
        self.deck.append("artifact")
        self.path, self.loose, self.relics = [], 0, []
        for player in self.players:
            player.purse, player.is_inside = 0, True
        self.phase = "draw"

    def _end_round(self, burnt=None) -> None:
        if burnt is not None:
            self.path.remove(burnt)
        self.deck += [card for card in self.path if card != "artifact"]
        self._begin_round()

    def draw(self, card) -> None:
        assert self.phase == "draw"
        self.deck.remove(card)
        is_second = card in HAZARDS and card in self.path
        self.path.append(card)
        self.phase = "decide"
        inside = [player for player in self.players if player.is_inside]
        if is_second:
            self._end_round(burnt=card)
        elif card == "artifact":
            self.relics.append(5 if self.n_taken < 3 else 10)
        elif card not in HAZARDS:
            while card >= len(inside):
                for player in inside:
                    player.purse += 1
                    card -= 1
            self.loose += card

    def decide(self, leaving: list[int]) -> None:
        """Let some players leave at once."""
        assert self.phase == "decide"
        assert all(self.players[k].is_inside for k in leaving)
        if len(leaving) == 1:
            for worth in self.relics:
                self.players[leaving[0]].safe += (5 if self.n_taken < 3 else 10) if self.by_leaving else worth
                self.n_taken += 1
            self.relics = []
        while leaving and self.loose >= len(leaving):
            for k in leaving:
                self.players[k].safe += 1
                self.loose -= 1
        for k in leaving:
            self.players[k].safe += self.players[k].purse
            self.players[k].purse, self.players[k].is_inside = 0, False
        self.phase = "draw"
        if not any(player.is_inside for player in self.players):
            self._end_round()

    def points(self) -> list[int]:
        return [player.safe for player in self.players]


def features(game, state) -> list[float]:
    """The features of a state of the game in which a player is asked."""
    own = game.player(state)
    others = sorted(
        (player for player in range(3) if player != own),
        key=lambda player: (state.totals[player], state.held[player], state.inside[player]),
        reverse=True,
    )
    points = [number for player in (own, *others) for number in (state.held[player], state.totals[player])]
    return [
        *(number / max(sum(points), 1) for number in points),
        *(state.inside[player] for player in others),
        state.round / 5,
        state.treasure / 17,
        state.artifacts[0] / 3,
        state.artifacts[1] / 2,
        *(min(count, 1) for count in state.drawn[11:16]),
        sum(state.inside) / 3,
        *(count / sum(state.deck) for count in state.deck),
    ]
