import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from playing import some_games, with_side, written
from scipy.stats import pearsonr, spearmanr

from punish_fast.punish.codes import decimals_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import RecordsError, open_to_read
from punish_fast.records.games import Selection, read_choices
from punish_fast.records.importing import ROUNDED, SAME_SECOND, import_logs
from punish_fast.records.log_fields import ROUNDINGS, roundings_of
from punish_fast.records.summary import correlations, latest_game, list_games, read_results, summarize
from punish_fast.records.validation import FEINTS
from records.conftest import run_sql
from records.test_importing import rows


def test_results_and_summary_of_two_games(original, space):
    results = read_results(original)
    assert results.game.tolist() == [100, 200]
    assert results.winner.tolist() == ["Ann", "naive"]
    assert results.loser.tolist() == ["Ben", "Ben"]
    assert results.winner_is_bot.tolist() == [False, True]
    assert results.loser_is_bot.tolist() == [False, False]
    assert results.n_breaths.tolist() == [2, 1]
    summary = summarize(results, space)
    assert (summary["games"], summary["breaths"]) == (2, 6)
    # The first breath of both games is the same.
    assert (summary["starting_states"], summary["distinct_states"]) == (2, 4)
    assert summary["durations"] == {"mean": 1.5, "median": 1.5, "longest": 2, "counts": {"1": 1, "2": 1}}
    ann, naive, ben = summary["players"]
    assert ann == {"name": "Ann", "is_bot": False, "wins": 1, "losses": 0, "games": 1, "win_rate": 1.0}
    assert (naive["name"], naive["is_bot"]) == ("naive", True)
    assert (ben["wins"], ben["losses"], ben["games"], ben["win_rate"]) == (0, 2, 2, 0.0)
    assert summary["correlation"] == pytest.approx({"linear": -1.0, "rank": -1.0})


def test_counts_agree_with_the_games(db, games, space):
    results = read_results(db)
    assert results.n_breaths.tolist() == [len(game.winner.number) for game in games]
    assert results.winner.tolist() == [game.winner.name for game in games]
    assert read_results(db, Selection(humans_only=True)).winner_is_bot.sum() == 0
    chosen = read_results(db, Selection(player="Ann"))
    assert len(chosen) == sum("Ann" in (game.winner.name, game.loser.name) for game in games)
    summary = summarize(results, space)
    states = {state for game in games for side in (game.winner, game.loser) for state in side.states}
    assert summary["distinct_states"] == len(states)
    starting = [state for state in map(str, states) if (state[0], state[6], state[9]) == ("1", "2", "2")]
    assert summary["starting_states"] == len(starting)
    assert sum(player["wins"] for player in summary["players"]) == 30
    assert sum(player["games"] for player in summary["players"]) == 60
    assert sum(summary["durations"]["counts"].values()) == 30
    played = [player["games"] for player in summary["players"]]
    rates = [player["win_rate"] for player in summary["players"]]
    assert summary["correlation"]["linear"] == pytest.approx(pearsonr(played, rates).statistic)
    assert summary["correlation"]["rank"] == pytest.approx(spearmanr(played, rates).statistic)


def test_what_is_not_defined_is_none(db, original, space):
    results = read_results(db, Selection(until=5))
    assert all(len(array) == 0 for array in vars(results).values())
    nothing = summarize(results, space)
    assert nothing["correlation"] == {"linear": None, "rank": None}
    assert nothing["durations"]["mean"] is None
    assert nothing["players"] == []
    one = summarize(read_results(original, Selection(until=100)), space)
    assert one["correlation"] == {"linear": None, "rank": None}
    two = [{"games": 3, "win_rate": 0.5}, {"games": 1, "win_rate": 1.0}]
    assert correlations(two) == pytest.approx({"linear": -1.0, "rank": -1.0})
    json.dumps([nothing, one], allow_nan=False)
    with pytest.raises(RecordsError, match="there is no player 'Zoe'"):
        read_results(db, Selection(player="Zoe"))


def test_what_the_notebook_says_of_its_games(real_db):
    summary = summarize(
        read_results(real_db, Selection(humans_only=True, until=1668358800)), StateSpace(PRESETS["notebook"])
    )
    assert (summary["games"], summary["breaths"]) == (667, 5070)
    assert (summary["starting_states"], summary["distinct_states"]) == (819, 3991)
    table = {player["name"]: (player["wins"], player["losses"]) for player in summary["players"]}
    assert table == {
        "maestro": (268, 233),
        "Surjim": (194, 203),
        "Wanderer": (75, 89),
        "Handel": (71, 87),
        "Joe": (52, 48),
        "Comet": (7, 7),
    }
    assert summary["players"][0]["games"] == 501
    assert summary["correlation"]["linear"] == pytest.approx(0.35, abs=0.001)
    assert summary["correlation"]["rank"] == pytest.approx(0.143, abs=0.0005)


def test_rules_under_which_no_starting_state_exists_are_refused(original, space):
    results, hp = read_results(original), space.rules.hp
    starting = [int(f"1{k:05}{hp}00{hp}10000000") for k in range(130)]
    played = replace(
        results, decimal=np.append(decimals_of(space, np.arange(space.n_states - 400, space.n_states)), starting)
    )
    with pytest.raises(RecordsError, match=r"rules: only \d+ of \d+ recorded starting states exist"):
        summarize(played, space)
    # Half of the states may be unknown.
    known = decimals_of(space, np.arange(space.n_states - 4, space.n_states))
    assert summarize(replace(results, decimal=np.append(known, range(4))), space)["distinct_states"] == 8
    with pytest.raises(RecordsError, match="rules: only 4 of 9 recorded states exist"):
        summarize(replace(results, decimal=np.append(known, range(5))), space)


def latest(path):
    with open_to_read(path) as connection:
        return latest_game(connection)


def test_games_are_listed_from_the_latest_on(original):
    assert list_games(original, Selection(), 5) == [
        {"game": 200, "played": 200, "winner": "naive", "loser": "Ben", "breaths": 1}
        | {"winner_is_bot": True, "loser_is_bot": False},
        {"game": 100, "played": 100, "winner": "Ann", "loser": "Ben", "breaths": 2}
        | {"winner_is_bot": False, "loser_is_bot": False},
    ]
    assert [game["game"] for game in list_games(original, Selection(), 1)] == [200]
    assert [game["game"] for game in list_games(original, Selection(player="Ann"), 5)] == [100]
    assert latest(original) == 200
    run_sql(original, "DELETE FROM breaths WHERE game_id = 100 AND is_winner AND action = 20")
    assert list_games(original, Selection(game=100), 5)[0]["breaths"] == 2
    run_sql(original, "UPDATE players SET is_bot = 1 WHERE username = 'Ben'")
    assert latest(original) == 100
    run_sql(original, "UPDATE players SET is_bot = 1")
    assert latest(original) == 200
    run_sql(original, "DELETE FROM breaths; DELETE FROM games")
    assert latest(original) is None


def test_games_of_one_second_are_listed_once_page_by_page(original):
    """Ids do not follow the time of play."""
    run_sql(
        original,
        "UPDATE games SET game_id = 9000000000000000 WHERE game_id = 100; UPDATE breaths SET game_id = 9000000000000000"
        " WHERE game_id = 100; ALTER TABLE games ADD played INT; UPDATE games SET played = 300;"
        " INSERT INTO games(game_id, winner_id, loser_id, played) VALUES (7000000000000000, 1, 2, 400)",
    )
    listed, before = [], None
    while page := list_games(original, Selection(before=before), 1):
        listed += page
        before = page[-1]["game"]
    assert [(game["game"], game["played"]) for game in listed] == [
        (7_000_000_000_000_000, 400),
        (9_000_000_000_000_000, 300),
        (200, 300),
    ]
    assert latest(original) == 7_000_000_000_000_000


def test_choices_of_an_original_database(original):
    choices = read_choices(original, humans_only=False)
    assert len(choices) == 6
    assert choices.game.tolist() == [100, 100, 100, 100, 200, 200]
    assert choices.won.tolist() == [True, True, False, False, True, False]
    assert choices.player.tolist() == ["Ann", "Ann", "Ben", "Ben", "naive", "Ben"]
    assert choices.action.tolist() == [40, 20, 10, 91, 20, 90]
    assert choices.decimal[0] == 101010200220000001
    assert [array.dtype.kind for array in vars(choices).values()] == ["i", "u", "i", "b", "U"]
    with pytest.raises(RecordsError, match="no player 'Zoe'; players: Ann, Ben, naive"):
        read_choices(original, player="Zoe")
    run_sql(original, "UPDATE players SET username = 'A' || char(10) || 'nn' WHERE player_id = 1")
    with pytest.raises(RecordsError, match=r"players: 'A\\nnn', Ben, naive"):
        read_choices(original, player="Zoe")
    run_sql(original, "".join(f"INSERT INTO players VALUES ({k}, 'p{k}', 0);" for k in range(4, 23)))
    with pytest.raises(RecordsError, match=r", p19, p20 and 2 more$"):
        read_choices(original, player="Zoe")
    for wrong in ({"game": 2**63}, {"until": -(2**63) - 1}):
        with pytest.raises(RecordsError, match="it must be a 64-bit integer"):
            Selection(**wrong)


def test_choices_are_selected_and_in_order(original):
    assert len(read_choices(original)) == 4
    assert len(read_choices(original, winners=True)) == 2
    assert len(read_choices(original, humans_only=False, until=100)) == 4
    assert len(read_choices(original, humans_only=False, until=99)) == 0
    assert set(read_choices(original, humans_only=False, player="Ben").player) == {"Ben"}
    assert set(read_choices(original, with_bots=True).player) == {"Ann", "Ben"}
    assert len(read_choices(original, with_bots=True)) == 5
    assert read_choices(original, humans_only=False, player="Ben", winners=True).decimal.dtype == np.int64
    run_sql(original, "ALTER TABLE breaths ADD COLUMN number INT; UPDATE breaths SET number = 9 - rowid")
    assert read_choices(original).action.tolist() == [20, 40, 91, 10]


def test_human_choices_that_the_notebook_learned_from(real_db):
    choices = read_choices(real_db, until=1668358800)
    assert len(choices) == 5070
    assert len(np.unique(choices.game)) == 667
    assert len(np.unique(choices.decimal)) == 3991
    assert len(read_choices(real_db, humans_only=False)) == 9382


# Programs that read numbers as doubles, by their way to write them: in full, shortest, by digits.
PROGRAMS = {
    "all digits": lambda code: int(float(code)),
    "shortest": lambda code: int(Decimal(repr(float(code)))),
    "17 digits": lambda code: int(Decimal(f"{float(code):.17g}")),
    "16 digits": lambda code: int(Decimal(f"{float(code):.16g}")),
    "15 digits": lambda code: int(Decimal(f"{float(code):.15g}")),
}


def rewritten(game, rounding):
    winner, loser = (replace(side, states=tuple(map(rounding, side.states))) for side in (game.winner, game.loser))
    return replace(game, winner=winner, loser=loser)


def write(path, games, in_numbers=True):
    path.write_text(written(games, "games", int if in_numbers else str))
    return path


@pytest.fixture(scope="module")
def many():
    return some_games(30, seed=5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_rounded_games_are_never_imported_as_other_games(tmp_path, space, many, program):
    """In one log, as numbers or as texts, and each game in its own log."""
    import_logs(space, [write(tmp_path / "y.json", many)], tmp_path / "y.db")
    changed = [rewritten(game, PROGRAMS[program]) for game in many]
    for in_numbers in (True, False):
        log, db = write(tmp_path / "x.json", changed, in_numbers), tmp_path / f"{in_numbers}.db"
        report = import_logs(space, [log], db)
        assert report.imported + report.rejected == len(many)
        assert set(report.count("rejected")) == {ROUNDED}
        assert "53 bits" in next(remark.reason for remark in report.remarks if remark.kind == ROUNDED)
        assert report.imported == 0 or set(rows(db)) <= set(rows(tmp_path / "y.db"))
    others = [other for other, game in zip(changed, many, strict=True) if other != game]
    logs = [write(tmp_path / f"{k}.json", [other]) for k, other in enumerate(others)]
    report = import_logs(space, logs, tmp_path / "z.db")
    assert (report.imported, report.rejected) == (0, len(others))


def test_exact_games_are_imported_alone_and_together(tmp_path, space, many):
    """Also games whose states are doubles by chance: as text, as they are exported."""
    together = write(tmp_path / "x.json", many)
    assert import_logs(space, [together], tmp_path / "x.db").imported == len(many)
    alone = [write(tmp_path / f"{k}.json", [game], in_numbers=False) for k, game in enumerate(many)]
    assert any(roundings_of([*game.winner.states, *game.loser.states]) for game in many)
    report = import_logs(space, alone, tmp_path / "y.db")
    assert (report.imported, report.rejected) == (len(many), 0)
    mixed = write(tmp_path / "z.json", [rewritten(many[0], PROGRAMS["15 digits"]), *many[1:]])
    report = import_logs(space, [mixed], tmp_path / "z.db")
    assert (report.imported, report.count("rejected")) == (len(many) - 1, {ROUNDED: 1})
    # Codes of the first game are not rounded; codes of the other may result from rounding to the shortest digits.
    other, alike = some_games(12)[1::10]
    near = [alike, with_side(alike, actions=(alike.winner.actions[0] - 1, *alike.winner.actions[1:]))]
    report = import_logs(space, [write(tmp_path / "n.json", [*near, other])], tmp_path / "n.db")
    assert (report.imported, report.count("warning")) == (3, {FEINTS: 1, SAME_SECOND: 1})
    near = [rewritten(other, PROGRAMS["shortest"]), alike]
    report = import_logs(space, [write(tmp_path / "n.json", near, in_numbers=False)], tmp_path / "o.db")
    assert report.count("rejected") == {ROUNDED: 2}
    assert roundings_of([1, 2**53]) == []
    assert roundings_of([101010200220000001]) == []


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_no_rounding_changes_a_code_by_more_than_its_reach(rounding):
    codes = np.random.default_rng(0).integers(10**17, 10**18, size=5_000).tolist()
    assert 0.8 * rounding.reach < max(abs(rounding.apply(code) - code) for code in codes) <= rounding.reach
