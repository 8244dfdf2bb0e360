import pytest

from punish_fast.games.registry import make_game, vectorise


@pytest.fixture(scope="session")
def tictactoe():
    return vectorise(make_game("tictactoe", {}))
