from __future__ import annotations

from queue import Queue
from types import SimpleNamespace

import pytest

from punish_fast.cli.frame import progress as reporting
from punish_fast.cli.frame import report
from punish_fast.cli.frame.progress import Progress
from punish_fast.cli.frame.report import print_table, print_text
from punish_fast.punish.rules import by_card
from punish_fast.runtime.compilation.compile_progress import announce_to, begin, end

_HAND = (2, 1, 0, 0, 0)
HEADER = ["agent", *(f"measure {k}" for k in range(1, 9))]
ROWS = [HEADER, ["naive", *["0.123456"] * 8], ["random", *["12.5 points"] * 8]]


@pytest.mark.parametrize(("width", "left"), [(90, 0), (100, 1), (120, 2)])
def test_a_table_fits_the_terminal_and_loses_no_word(monkeypatch, capsys, width, left):
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(ROWS, left, indent="  ")
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= width
    words = " ".join(printed).split()
    for row in ROWS:
        for word in " ".join(row[1:]).split():
            assert words.count(word) >= " ".join(row).split().count(word)


def test_long_text_is_broken_between_words(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "16")
    print_table([["name", "a well-known text"], ["file", "x.h5"]], left=2)
    assert capsys.readouterr().out.splitlines() == ["name  a", "      well-known", "      text", "file  x.h5"]
    print_table([["/a/path/longer/than/that"]])
    assert capsys.readouterr().out.splitlines() == ["/a/path/longer/than/that"]
    print_text("a text that is long", indent="  ")
    assert capsys.readouterr().out.splitlines() == ["  a text that is", "  long"]


def test_a_report_is_printed_with_its_objects_as_tables(capsys):
    report.print_report(
        {
            "seed": 12345,
            "output": "x.h5",
            "output_bytes": 82_000,
            "converged": True,
            "policies": None,
            "seconds": {"solve": 0.25, "total": 1.0},
            "enemy": {"kind": "built-in", "name": "random"},
            "states_by_breath": [46, 1462],
            "states": 1510,
            "points": [{"name": "one", "value": None}, {"name": "two", "value": 1 / 3}],
            "in_hand": {"rush": {"step": 2}},
        }
    )
    assert capsys.readouterr().out.splitlines() == [
        "seed              12345",
        "output            x.h5 (82.0 kB)",
        "converged         yes",
        "seconds           1.00",
        "enemy             random",
        "states by breath  46, 1,462",
        "states            1,510, including win and loss",
        "",
        "points",
        "  name   value",
        "  one        -",
        "  two   0.3333",
        "",
        "in hand",
        "        step",
        "  rush     2",
    ]
    report.print_report({"openings": [{"value": k} for k in range(53)]})
    assert capsys.readouterr().out.splitlines()[-1] == "  and 3 more rows (use --json to see all)"
    report.print_report({"agents": [{"agent": "a", "sets": {"easy": {"x": {"n": 1}, "y": {"n": 2}}}}, {"agent": "b"}]})
    printed = capsys.readouterr().out.splitlines()
    assert printed[2:] == ["  a      easy, x  1", "         easy, y  2", "  b      -        -"]


def test_cells_follow_from_the_fields_of_a_record(capsys):
    rows = [
        {
            "card": "rush",
            "win": 2 / 3,
            "loss": 0.012,
            "error": 0.004,
            "ends": [0.5, 1],
            "hand": by_card([2, 1, 0, 0, 0]),
        },
        {"card": "punish", "win": None, "loss": None, "error": None, "ends": [None, 0], "hand": by_card([0] * 5)},
    ]
    columns = {"card": "{card}", "wins": "{win:.1%}", "loses": "{loss:+.1p}", "+-": "{error:.1m}"}
    columns |= {"ends": "{ends[0]:.0%}-{ends[1]:.0%}", "hand": "{hand:cards}", "first": lambda row: row["card"][0]}
    report.print_rows(rows, columns, title="cards", indent="  ")
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        [],
        ["cards"],
        ["card", "wins", "loses", "+-", "ends", "hand", "first"],
        ["rush", "66.7%", "+1.2", "0.8", "50%-100%", "2", "guard,", "rush", "r"],
        ["punish", "-", "-", "-", "--0%", "nothing", "p"],
    ]


def test_numbers_have_as_many_digits_as_matter_and_wide_columns_are_left_out(monkeypatch, capsys):
    values = {"win_rate": 2 / 3, "error_bound": 1 / 3e9, "discount": 0.99999, "exploiters": {"belief": 0.61247}}
    report.print_report(values)
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert printed == ["win rate 66.7%", "error bound 3.3e-10", "discount 0.99999", "exploiters belief 61.2%"]
    monkeypatch.setenv("COLUMNS", "40")
    report.print_report({"files": [{"file": "a" * 20, "digest": "f" * 64, "games": 3}]})
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= 40
    assert printed[1:] == [f"  {'file':20}  games", f"  {'a' * 20}      3", "  Too wide to show: digest (use --json)."]
    # The labels of rows stay, however wide they are.
    sets = {"e" * 16: {"n": 1}, "h" * 16: {"n": 2}}
    report.print_report({"agents": [{"agent": "a" * 16, "games": "g" * 12, "sets": sets}]})
    printed = capsys.readouterr().out.splitlines()
    assert printed[2:4] == [f"  {'a' * 16}  {'e' * 16}  1", f"  {'':16}  {'h' * 16}  2"]


def test_fields_are_told_in_words():
    assert report.in_words({"best_response_share": 0.9, "exploitability": 21.220528683321415, "name": "a\nb"}) == (
        "best response share 0.9, exploitability 21.22, name a\\nb"
    )


def test_compilation_is_reported_at_once_and_then_every_ten_seconds(capsys):
    clock = iter([0.0, 1.0, 10.9, 11.1])
    announce_to(Progress(clock=clock.__next__).compiling)
    try:
        for _ in range(3):
            begin("fill_blocks")
            end("fill_blocks")
    finally:
        announce_to(None)
    begin("sweep")
    end("sweep")
    lines = [f"compiling kernels, at least 1 left, {seconds} s" for seconds in (1, 11)]
    assert capsys.readouterr().err.splitlines() == lines


def test_a_stage_says_that_kernels_are_compiled_instead_of_its_own_line(monkeypatch):
    said = Queue()
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(reporting, "say", said.put)
    now = [0.0]
    announce_to(Progress(clock=lambda: now[0]).compiling)
    try:
        with Progress(clock=lambda: now[0]).stage("exploit: uniform-belief"):
            assert said.get(timeout=60) == "exploit: uniform-belief"
            begin("respond_full")
            assert said.get(timeout=60) == "compiling kernels, at least 1 left, 0 s"
            now[0] = 190.0
            assert said.get(timeout=60) == "compiling kernels, at least 1 left, 190 s"
            end("respond_full")
            now[0] = 192.0
            assert said.get(timeout=60) == "exploit: uniform-belief, 192 s"
    finally:
        announce_to(None)
    assert said.empty()


def test_a_silent_stage_shows_the_time_since_the_command_began(monkeypatch):
    now, said = [0.0], Queue()
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(reporting, "say", said.put)
    progress = Progress(clock=lambda: now[0])
    for start, name, latest in ((0.0, "exploit: memory", "exploit: memory"), (100.0, "train", "train: 1 of 2")):
        now[0] = start
        with progress.stage(name):
            assert said.get(timeout=60) == name
            if latest != name:
                progress.show(latest)
                assert said.get(timeout=60) == latest
            now[0] += 1.3
            assert said.get(timeout=60) == f"{latest}, {now[0]:.0f} s"
    assert said.empty()


def test_the_time_left_is_counted_down_until_it_has_passed(monkeypatch):
    now, said = [0.0], Queue()
    monkeypatch.setattr(reporting, "say", said.put)
    progress = Progress(clock=lambda: now[0])
    now[0] = 60.0
    progress.step("states", 4, 10)
    assert said.get(timeout=60) == "states: 4 of 10 (0.1/s), 1:30 left"
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    with progress.stage("train", left=90.0):
        assert said.get(timeout=60) == "train, 1:30 left"
        for later, line in (
            (80.0, "train, 1:10 left, 80 s"),
            (149.0, "train, 0:01 left, 149 s"),
            (340.0, "train, 340 s"),
        ):
            now[0] = later
            assert said.get(timeout=60) == line


def test_jobs_tell_the_time_left(monkeypatch, capfd):
    monkeypatch.setattr(reporting, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(Progress, "seconds", property(lambda _self: 10.0))
    watch = reporting.watch_jobs("survey", quiet=False)
    for n_done in (0, 2, 5):
        watch.done(n_done, 5)
        with watch.stage(SimpleNamespace(label="tiny"), "graph"):
            pass
    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        f"survey: {n} of 5 jobs done{stage}{left}"
        for n, left in ((0, ""), (2, ", 0:15 left"), (5, ""))
        for stage in ("", "; tiny, graph")
    ]


def test_progress_tells_sweeps_and_policies_apart_with_their_bound(capfd):
    progress = Progress()
    progress._last = -100.0
    progress.sweep("solve", 12, 0.5)
    progress._last = -100.0
    progress.sweep("policy iteration", 3, 0.5)
    first, second = capfd.readouterr().err.splitlines()
    assert first.startswith("solve: sweep 12, error bound 5.00e-01")
    assert second.startswith("policy iteration: policy 3, error bound 5.00e-01")


def test_long_names_are_shortened_in_a_narrow_table_but_numbers_are_not(monkeypatch, capsys):
    names = [f"agents/an-agent-whose-name-is-very-long-{k}.h5" for k in range(4)]
    rows = [["wins of row", *names], *([name, *["12.3456789%"] * 4] for name in names)]
    monkeypatch.setenv("COLUMNS", "80")
    print_table(rows)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("12.3456789%") == 16
    assert out.count("-0.h5") == 2
    monkeypatch.setenv("COLUMNS", "1000")
    print_table(rows)
    assert capsys.readouterr().out.count(names[3]) == 2
