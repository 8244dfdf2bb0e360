from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import numpy as np
import pytest
from browsing import PHONE, Visit, browser_of, need_a_browser
from cli.conftest import COMMAND, clean_environment

from punish_fast.punish._actions import REST_ACTION
from punish_fast.punish.codes import decimals_of
from punish_fast.punish.rules import CARDS, PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.records.database import open_to_read
from punish_fast.records.games import read_games
from punish_fast.records.logs import RecordedGame

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.slow
PROGRAM = need_a_browser()

# Whether no table is cut off, unless it can be scrolled by keys.
FITS = "(tables) => tables.every((each) => each.scrollWidth <= each.clientWidth)"
FOCUS_IS_ON_THE_BOARD = "document.activeElement.closest('.board') !== null"
# Buttons of a game.
IN_GAME = "header button, .board button:enabled, .game-help .row button"
SIZED_ROUTES = {"#/friend": ".seat-form", "#/rules/1,2,1,2,1/0,1,0,3,3": ".limit", "#/nowhere": "h1"}
# More breaths than any game takes.
MOST_BREATHS = 200
ROUTES = {
    "#/play": ".primer .card",
    "#/learn": ".learn .hand",
    "#/explore": "details.move",
    "#/review": "table.games a",
    "#/practice": ".practice .hand",
    "#/hand/rs": ".reason",
    "#/you/Ada": ".halves table",
    "#/dashboard": ".tiles",
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "games.db"


@pytest.fixture(scope="module")
def address(database: Path) -> Iterator[str]:
    """A server of the tiny game, as people start it."""
    command = [*COMMAND, "serve", "--rules", "tiny", "--port", "0", "--db", str(database), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["address"]
            # Kernels may have to be compiled first.
            while not all(model["digest"] for model in json.load(urlopen(f"{address}/models", timeout=60))):
                time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_of(PROGRAM) as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    """Visitors, who must not have met with any trouble by the end."""
    visits: list[Visit] = []

    def begin(**options: Any) -> Visit:
        visits.append(Visit(browser, address, **options))
        return visits[-1]

    yield begin
    troubles = [trouble for each in visits for trouble in each.troubles]
    for each in visits:
        each.end()
    assert troubles == []


def change_answers(page: Page, address: str, change: Callable[[Any], Any]) -> None:
    """Let a page see other answers than those of the server."""

    def answer(route: Route) -> None:
        answered = route.fetch()
        route.fulfill(response=answered, json=change(answered.json()))

    page.route(address, answer)


def choose_opponent(visit: Visit, opponent: str) -> Page:
    page = visit.go("#/play", ".more summary")
    page.locator(".more summary").click()
    choice = page.locator(".seat-form select").first
    choice.select_option(choice.locator("option", has_text=opponent).first.get_attribute("value"))
    return page


def sit_down(visit: Visit, name: str, opponent: str = "naive") -> Page:
    page = choose_opponent(visit, opponent)
    page.get_by_label("Your name").fill(name)
    assert page.locator(".about").inner_text().split()[0] in {opponent, "Nina", "Cleo", "Petra", "Thea"}
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_selector(".controls, .squares")
    return page


def breath_of(page: Page) -> str:
    return page.locator(".log").inner_text()


def after(page: Page, log: str) -> None:
    """Wait until the log has grown."""
    page.wait_for_function("(log) => document.querySelector('.log').innerText !== log", arg=log)


def play_out(page: Page, plays_a_card: Callable[[Page, int], Any]) -> None:
    """Play to the end."""
    for breath in range(MOST_BREATHS):
        if page.locator(".ending").is_visible():
            break
        log = breath_of(page)
        plays_a_card(page, breath)
        after(page, log)


def by_clicks(page: Page, _breath: int) -> None:
    """Pick the first card with the mouse."""
    if page.locator(".confirm").count() == 0:
        page.locator(".hand button:enabled").first.click()
    page.locator(".confirm").click()


def by_keys(page: Page, breath: int) -> None:
    """Pick the first card with the keyboard alone, in every second breath as a feint where that is legal."""
    held = page.locator(".hand button:enabled")
    if breath % 2 and page.get_by_role("button", name="Feint").count():
        page.keyboard.press("f")
    if held.count():
        page.keyboard.press(str(held.first.get_attribute("data-kind"))[0])
    page.keyboard.press("Enter")


def must_be_kept(page: Page, database: Path, name: str, enemy: str = "Nina") -> RecordedGame:
    """The one game of a player, with the winner that the page names, and a link to its review."""
    words = page.locator(".ending p").inner_text()
    link = page.get_by_role("link", name="Review this game")
    link.wait_for()
    assert page.locator(".foe .back").count() == 0
    with open_to_read(database) as connection:
        (game,) = [each for _, each in read_games(connection) if name in (each.winner.name, each.loser.name)]
    assert link.get_attribute("href") == f"#/review/{game.id}"
    recorded = "naive" if enemy == "Nina" else enemy
    winner, loser = (name, recorded) if words.endswith("You win!") else (recorded, name)
    assert words.endswith(("You win!", f"{enemy} wins!"))
    assert (game.winner.name, game.loser.name) == (winner, loser)
    # Whoever has lost may do nothing any more, and the cards that were not played stay visible.
    assert page.locator(".board .status").count() == 0
    own = game.winner if game.winner.name == name else game.loser
    n_left = sum(map(int, str(own.states[-1])[1:6])) - (own.actions[-1] != REST_ACTION)
    assert page.locator(".you .hand .card").count() == n_left
    return game


@pytest.fixture(scope="module")
def played(browser: Browser, address: str, database: Path) -> RecordedGame:
    """A game that was played with the mouse."""
    visit = Visit(browser, address)
    page = sit_down(visit, "Ada")
    play_out(page, by_clicks)
    game = must_be_kept(page, database, "Ada")
    page.locator(".costliest", has_text=re.compile("cost you most. See why|No choice of yours lost")).wait_for()
    page.get_by_text("Judged by Nina: each chance is that of winning with the best moves from there on.").wait_for()
    visit.end()
    assert visit.troubles == []
    return game


@pytest.mark.smoke
def test_a_game_is_played_by_clicks_and_kept(played):
    assert len(played.winner.actions) == len(played.loser.actions) >= 1


def test_a_game_is_played_by_keys_and_kept_and_played_again(visit, database):
    page = sit_down(visit(), "Ben")
    play_out(page, by_keys)
    game = must_be_kept(page, database, "Ben")
    assert page.locator(".ending p").inner_text() in page.locator("#live").inner_text()
    said = breath_of(page)
    assert len(re.findall(r"^Breath \d", said, re.MULTILINE)) == len(game.winner.actions)
    page.keyboard.press("n")
    page.wait_for_selector(".controls")
    assert "wins!" not in breath_of(page)


def test_the_end_of_a_game_is_there_again_with_the_reason_of_each_clash(visit):
    page = sit_down(visit(), "Zoe")
    for _ in range(20):
        reasons: list[str] = []
        while not page.locator(".ending").is_visible():
            log = breath_of(page)
            by_keys(page, len(reasons))
            after(page, log)
            reasons.append(page.locator(".result strong").inner_text())
        if len(set(reasons)) > 1:
            break
        page.keyboard.press("n")
        page.wait_for_selector(".controls")
    page.locator(".costliest > .quiet").wait_for()
    log, moment = breath_of(page), page.locator(".costliest").inner_text()
    # All events now arrive at once.
    page.reload()
    page.wait_for_selector(".ending:visible")
    assert breath_of(page) == log
    assert [line for line in log.splitlines() if line in reasons] == reasons
    page.get_by_role("link", name="Review this game").click()
    page.wait_for_selector(".timeline")
    page.go_back()
    page.locator(".costliest > .quiet").wait_for()
    assert (breath_of(page), page.locator(".costliest").inner_text()) == (log, moment)
    page.get_by_role("link", name="Play", exact=True).click()
    page.wait_for_selector(".start")
    page.go_back()
    page.wait_for_selector(".ending:visible")
    end = page.url
    page.keyboard.press("n")
    page.wait_for_selector(".controls")
    # Another game is not lost by a return to the end of this one.
    page.goto(end)
    page.reload()
    page.wait_for_selector(".controls")
    assert (page.url.endswith("#/play"), page.locator(".ending").is_visible()) == (True, False)


def meet(host: Visit, guest: Visit) -> tuple[Page, Page]:
    """Let two people, Ann and Bert, sit down at a table by a link."""
    ann = host.go("#/friend", ".seat-form")
    ann.get_by_label("Your name").fill("Ann")
    ann.get_by_role("button", name="Make a link").click()
    ben = guest.go(ann.locator(".link").input_value().removeprefix(f"{host.address}/"), ".seat-form")
    assert ben.locator("h1").inner_text() == "Ann invites you to a game"
    assert ben.get_by_role("link", name="Learn in a minute").count() == 1
    ben.get_by_label("Your name").fill("Bert")
    ben.get_by_role("button", name="Start the game").click()
    ann.wait_for_selector(".controls")
    return ann, ben


def watch(ann: Page, fan: Visit) -> Page:
    """Let a spectator come by Ann's link before the first clash."""
    ann.get_by_role("button", name="Copy link for spectators").click()
    ann.get_by_role("button", name="Copied").wait_for()
    eve = fan.go(ann.evaluate("navigator.clipboard.readText()").removeprefix(f"{fan.address}/"), ".log h3")
    assert eve.locator(".under").all_inner_texts() == ["hand of 2", "deck of 2", "hand of 2"]
    assert eve.locator(".hand, .controls, .duel [data-card]").count() == 0
    assert (eve.locator("h2").all_inner_texts()[:2], fan.width()) == (["Bert", "Ann"], PHONE["width"])
    return eve


def test_two_people_play_a_game_by_a_link_with_a_reload_and_a_spectator(visit, database):
    host, guest = visit(permissions=["clipboard-read", "clipboard-write"]), visit(size=PHONE, color_scheme="dark")
    fan = visit(size=PHONE)
    ann, ben = meet(host, guest)
    for breath in range(MOST_BREATHS):
        if ann.locator(".ending").is_visible():
            break
        logs = breath_of(ann), breath_of(ben)
        assert ann.title() == ben.title() == "Your move · Punish"
        by_clicks(ann, breath)
        ben.get_by_text("Ann has chosen.").wait_for()
        assert (ann.title(), ben.title()) == ("Bert · Punish", "Your move · Punish")
        if breath == 0:
            assert (host.flaws(), guest.flaws(), guest.misplaced(), guest.width()) == ([], [], [], PHONE["width"])
            ann.reload()
            ann.get_by_text(re.compile(r"You chose .*\. Waiting for Bert …")).wait_for()
            assert (breath_of(ann), ann.locator(".hand [aria-pressed=true]").count()) == (logs[0], 1)
            ben.locator(".hand button:enabled").last.click()
            picked = ben.locator(".hand [aria-pressed=true]").get_attribute("data-kind")
            eve = watch(ann, fan)
        by_clicks(ben, breath)
        after(ann, logs[0])
        after(ben, logs[1])
        if breath == 0:
            assert ben.locator(".mine [data-card]").get_attribute("data-card") == picked
            assert ann.locator(".theirs [data-card]").get_attribute("data-card") == picked
            eve.locator(f".theirs [data-card={picked}]").wait_for()
            assert fan.flaws() == []
    links = [page.get_by_role("link", name="Review this game") for page in (ann, ben)]
    game = must_be_kept(ben, database, "Bert", enemy="Ann")
    for page in (ann, ben):
        page.locator(".costliest", has_text=re.compile("cost you most. See why|No choice of yours lost")).wait_for()
    eve.get_by_text(f"{game.winner.name} wins!").first.wait_for()
    eve.get_by_role("link", name="Review this game").wait_for()
    # The judge knows nothing about a friend.
    told = [page.locator(".costliest > .quiet").inner_text().partition(" from there on")[2] for page in (ann, ben)]
    assert told == [f", if {friend} played like Nina." for friend in ("Bert", "Ann")]
    assert [link.get_attribute("href") for link in links] == 2 * [f"#/review/{game.id}"]
    # Both want another game.
    ann.keyboard.press("n")
    ben.get_by_text("Ann wants to play again.").wait_for()
    ben.get_by_role("button", name="Play again").click()
    ben.wait_for_selector(".controls")
    own = int(game.winner.name == "Ann")
    ann.get_by_text(f"Score: you {own}, Bert {1 - own}.").wait_for()
    eve.get_by_text(f"Score: Ann {own}, Bert {1 - own}.").wait_for()
    for page in (ann, ben):
        assert page.get_by_role("link", name="Review the previous game").get_attribute("href") == f"#/review/{game.id}"
    # The spectator's next request would fail when the table is closed.
    eve.goto("about:blank")
    ann.once("dialog", lambda dialog: dialog.accept())
    ann.get_by_role("button", name="Leave").click()
    ben.get_by_text("Ann has left. The game is over and is not recorded.").wait_for()
    assert not ben.get_by_role("button", name="Play again").is_visible()
    # Nothing is requested of a friend who has left.
    ben.keyboard.press("n")
    ben.get_by_role("button", name="Leave").click()
    ben.wait_for_selector(".start")


def test_a_double_click_on_play_again_starts_one_game(visit):
    page = sit_down(visit(), "Dan")
    play_out(page, by_clicks)
    opened: list[str] = []
    page.on("request", lambda request: opened.append(request.url) if request.url.endswith("/tables") else None)
    page.get_by_role("button", name="Play again").dblclick()
    page.wait_for_selector(".controls")
    page.wait_for_load_state("networkidle")
    assert len(opened) == 1


def test_late_answers_of_a_review_that_was_left_replace_nothing(visit, played):
    page = visit().go("#/learn", ".learn")

    def leave_first(route: Route) -> None:
        page.evaluate("location.hash = '#/learn'")
        page.wait_for_selector(".learn")
        route.continue_()

    page.route("**/review?*", leave_first)
    with page.expect_response("**/review?*"):
        page.evaluate("(id) => location.hash = `#/review/${id}`", str(played.id))
    page.wait_for_load_state("networkidle")
    assert (page.locator(".learn").count(), page.locator(".chart, .back-row").count()) == (1, 0)


def test_a_link_that_is_made_after_its_page_was_left_leads_nowhere(visit):
    page = visit().go("#/friend", ".seat-form")
    page.get_by_label("Your name").fill("Kim")

    def leave_first(route: Route) -> None:
        page.evaluate("location.hash = '#/learn'")
        page.wait_for_selector(".learn")
        route.continue_()

    page.route("**/tables", leave_first)
    with page.expect_response(lambda answer: answer.request.method == "DELETE") as left:
        page.get_by_role("button", name="Make a link").click()
    assert (left.value.status, page.url.endswith("#/learn")) == (204, True)
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('friend.'))") == []


def test_a_pick_can_be_taken_back_and_a_reload_goes_on_with_the_game(visit):
    page = sit_down(visit(), "Cleo")
    log = breath_of(page)
    card = page.locator(".hand button:enabled").first
    # A letter of another script picks the card by its place on the keyboard.
    kind = card.get_attribute("data-kind")
    event = {"key": "пквыз"[CARDS.index(kind)], "code": f"Key{kind[0].upper()}", "bubbles": True}
    page.evaluate("(event) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', event))", event)
    assert page.locator(".hand button[aria-pressed=true]").get_attribute("data-kind") == kind
    page.keyboard.press("Escape")
    card.click()
    assert page.locator(".hand button[aria-pressed=true]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".hand button[aria-pressed=true]").count() == 0
    assert breath_of(page) == log
    # The same card again plays it.
    card.click()
    card.click()
    after(page, log)
    log = breath_of(page)
    page.reload()
    page.wait_for_selector(".controls, .ending")
    if page.locator(".controls").count():
        assert breath_of(page) == log


def test_a_game_goes_on_once_the_server_answers_again(browser, address):
    # Lost connections are errors in the console.
    each = Visit(browser, address)
    page = sit_down(each, "Lea")
    page.context.set_offline(True)
    page.locator(".hand button:enabled").first.click()
    page.locator(".confirm").click()
    page.get_by_text("The server does not answer.").wait_for()
    assert page.locator(".confirm").is_visible()
    page.context.set_offline(False)
    play_out(page, by_clicks)
    assert page.locator(".ending").is_visible()
    each.end()


def test_a_game_that_went_on_or_was_lost_elsewhere_is_explained(browser, address):
    # Refused requests are errors in the console.
    each = Visit(browser, address)
    page = sit_down(each, "Lou", "perfect-tictactoe")
    assert page.locator("#undo").is_disabled()
    table = page.evaluate("JSON.parse(localStorage['punish.table'])")
    headers = "{'Content-Type': 'application/json'}"
    send = f"([path, method, body]) => fetch(`tables/{table}${{path}}`, {{method, body, headers: {headers}}})"
    page.evaluate(send, ["/choice", "POST", json.dumps({"action": 0, "n_events": 0})])
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.get_by_text("The game went on meanwhile; here is its current state.").wait_for()
    assert (page.locator(".log p").count(), page.locator("#undo").is_enabled()) == (2, True)
    page.evaluate(send, ["", "DELETE", None])
    page.reload()
    page.get_by_text("This game is lost, because the server was restarted").wait_for()
    each.end()


def test_a_table_can_be_left_and_the_rules_are_there_after_the_game(visit):
    page = sit_down(visit(), "Mia")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Leave").click()
    assert page.locator(".controls").is_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Leave").click()
    page.wait_for_selector(".start")
    page.reload()
    page.locator(".opponent", has_text="Axel").click()
    page.get_by_role("button", name="Play against Axel").click()
    page.wait_for_selector(".controls")
    play_out(page, by_clicks)
    assert page.get_by_role("button", name=re.compile("Leave|Coach")).count() == 0
    page.get_by_role("button", name="Rules").click()
    assert "the lower card wins: rest < guard < rush < dodge < strike < punish" in page.locator("dialog").inner_text()


def test_another_game_has_a_board_of_its_own_and_the_opponent_may_begin(visit):
    page = choose_opponent(visit(), "Nina")
    assert not page.get_by_label("Who begins").is_visible()
    page = choose_opponent(visit(), "perfect-connect4")
    page.get_by_label("Who begins").select_option("the agent")
    page.get_by_role("button", name="Start the game").click()
    page.wait_for_selector(".squares")
    assert page.locator(".log p").all_inner_texts() == ["Petra: column 4"]
    page = sit_down(visit(), "Gil", "casual-tapnswap")
    assert page.locator(".fingers").count() == 4
    assert page.get_by_role("button", name="Coach").count() == 0
    # No game is over after two moves each, whatever the opponent plays.
    for move in range(1, 3):
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        said(page, 2 * move)
        assert page.evaluate(FOCUS_IS_ON_THE_BOARD)
    assert breath_of(page).startswith("you: tap 1 on 1")
    page.keyboard.press("h")
    page.wait_for_selector(".controls .good")
    assert page.locator(".coach").inner_text().startswith("Best: ")
    page.keyboard.press("?")
    assert "Both players have two hands" in page.get_by_role("dialog").inner_text()


def said(page: Page, n: int) -> None:
    """Wait until the log has so many lines."""
    page.wait_for_function("(n) => document.querySelectorAll('.log p').length >= n", arg=n)


@pytest.mark.parametrize(
    ("game", "keys", "board", "scheme"),
    [("incan-gold", ("s", "Enter"), ".temple-card", "light"), ("gwent", ("1", "Enter"), ".gwent-card", "dark")],
    ids=["incan-gold", "gwent"],
)
def test_card_games_are_played_by_keys_and_fit_a_phone(visit, game, keys, board, scheme):
    each = visit(size=PHONE, color_scheme=scheme)
    page = sit_down(each, "Ada", f"rule-of-thumb-{game}")
    assert page.get_by_role("button", name="Hint").count() == 0
    assert page.locator(board).count() > 0
    # What is picked is taken back; nothing is played.
    log = breath_of(page)
    page.keyboard.press(keys[0])
    assert page.locator(".confirm").is_visible()
    page.keyboard.press("Escape")
    assert (page.locator(".confirm").count(), breath_of(page)) == (0, log)
    assert page.evaluate(FOCUS_IS_ON_THE_BOARD)
    page.keyboard.press(keys[0])
    assert (each.flaws(), each.width()) == ([], PHONE["width"])
    page.keyboard.press("Enter")
    after(page, log)
    assert page.evaluate(FOCUS_IS_ON_THE_BOARD)
    n_cards, headings = page.locator(board).count(), page.locator(".log h3").all_inner_texts()
    assert headings[0] == "Round 1"
    page.reload()
    page.wait_for_selector(board)
    assert (page.locator(board).count(), page.locator(".log h3").all_inner_texts()) == (n_cards, headings)
    play_out(page, lambda page, _: [page.keyboard.press(key) for key in keys])
    assert page.locator(".card.back").count() == 0
    assert (each.flaws(), each.width()) == ([], PHONE["width"])


def test_tic_tac_toe_is_played_by_keys_with_hints(visit):
    each = visit()
    page = sit_down(each, "Ina", "perfect-tictactoe")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    said(page, 2)
    assert page.locator(".log p").all_inner_texts() == ["you: top left", "Petra: center"]
    assert page.get_by_role("button", name="center: O").get_attribute("aria-disabled") == "true"
    # From the top left one to the right, two down, and against the edge.
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.ariaLabel") == "bottom: empty"
    # In the log, arrow keys scroll.
    page.locator(".log").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel") == "Log of the duel"
    page.get_by_role("button", name="bottom: empty").focus()
    page.keyboard.press("h")
    page.wait_for_selector(".outcome")
    assert page.locator(".outcome").all_inner_texts() == ["draw"] * 7
    assert page.evaluate("document.activeElement.ariaLabel") == "bottom: empty, draw, best"
    assert page.locator(".coach").inner_text() == "All moves are equally good (draw with perfect play)."
    # Enter picks the square, and plays it when it is pressed again.
    page.keyboard.press("Enter")
    assert page.locator(".confirm").inner_text().startswith("Play: bottom")
    assert (page.locator(".log p").count(), each.flaws()) == (2, [])
    page.keyboard.press("Enter")
    said(page, 4)
    assert page.locator(".outcome").count() == 0
    # A taken square is not played.
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    assert page.locator(".log p").count() == 4
    # The last move is undone together with the reply.
    page.keyboard.press("u")
    page.get_by_role("button", name="bottom: empty").wait_for()
    assert page.locator(".log p").all_inner_texts() == ["you: top left", "Petra: center"]


def test_tic_tac_toe_fits_a_phone_and_shows_the_line_that_won(visit):
    each = visit(size=PHONE, has_touch=True, is_mobile=True, color_scheme="dark")
    page = sit_down(each, "Jo", "perfect-tictactoe")
    for number, square in enumerate(("top left", "right", "top"), 1):
        page.get_by_role("button", name=f"{square}: empty", exact=True).tap()
        page.get_by_role("button", name=f"Play: {square}").tap()
        said(page, 2 * number)
    page.wait_for_selector(".ending:visible")
    assert re.split(r"\n+", page.locator(".ending").inner_text()) == [
        "Petra wins!",
        "Play again",
        "Choose another opponent",
    ]
    won = page.locator(".spot.won").evaluate_all("(spots) => spots.map((spot) => spot.ariaLabel)")
    assert won == ["top right: O", "center: O", "bottom left: O"]
    assert each.width() <= PHONE["width"]
    assert each.flaws() == []


def test_a_proxy_may_serve_the_page_under_a_prefix(visit, address):
    each = visit()

    def pass_on(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("/punish/", "/")))

    each.page.route("**/punish/**", pass_on)
    each.page.route(re.compile(rf"^{address}/(?!punish/)"), lambda route: route.abort())
    each.address += "/punish"
    sit_down(each, "Eve")
    each.go("#/dashboard", "main h1")


def test_a_refused_page_names_the_reason_and_can_be_tried_again(browser, address):
    visit = Visit(browser, address)
    visit.page.route("**/models", lambda route: route.fulfill(status=421, json={"detail": "host: use --allow-host"}))
    page = visit.go("#/play", "[role=alert] .bad")
    assert page.locator("main .bad").inner_text() == "host: use --allow-host"
    page.unroute("**/models")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".start")
    # Without one of its files, too, the page has words.
    page.route("**/page/play.js", lambda route: route.fulfill(status=429, json={"detail": "requests: too many"}))
    page.reload()
    assert "one of the page's files could not be loaded" in page.locator("main").inner_text()
    page.unroute("**/page/play.js")
    page.goto("about:blank")
    page = visit.go("#/review/123", "main .bad")
    assert page.locator("main .bad").inner_text() == "game 123 is not in the database"
    assert page.get_by_text("Judging every choice").count() == 0
    visit.end()


def test_the_coach_assumes_the_judge_or_on_request_the_opponent(visit):
    page = visit().go("#/play", ".start")
    page.locator(".opponent", has_text="Clara").click()
    page.get_by_role("button", name="Play against Clara").click()
    page.wait_for_selector(".controls")
    page.keyboard.press("c")
    heading = page.locator(".coach h3").first
    for _ in range(2):
        page.get_by_role("button", name="Use how Clara really plays").click()
        page.get_by_role("button", name="Back to the usual judge").wait_for()
        assert heading.inner_text() == "Your chance of winning against Clara with each move"
        page.get_by_role("button", name="Back to the usual judge").click()
        page.get_by_role("button", name="Use how Clara really plays").wait_for()
        assert heading.inner_text() == "Your chance of winning with each move, if Clara played like Nina"


def test_the_coach_and_the_rules_are_a_key_away_and_on_a_phone_a_tap(visit):
    each = visit(size={"width": 390, "height": 420}, has_touch=True, is_mobile=True)
    page = sit_down(each, "Hal")
    assert page.locator(".controls .words").inner_text() == "Tap a card, or flick it up to play it at once."
    page.get_by_role("button", name="Rules").tap()
    dialog = page.get_by_role("dialog")
    assert dialog.evaluate("(dialog) => dialog.scrollHeight > dialog.clientHeight && dialog.scrollTop") == 0
    assert page.locator("kbd:visible, .key:visible, dialog dl").count() == 0
    page = sit_down(visit(), "Dora")

    # If a feint is best, it is marked on its card.
    def feints_first(found: Any) -> Any:
        return found | {"chances": sorted(found["chances"], key=lambda each: each["action"] % 10 == 0)}

    change_answers(page, "**/coach", feints_first)
    page.keyboard.press("c")
    page.wait_for_selector(".advice")
    shown = page.locator(".hand .chance").all_inner_texts()
    assert shown
    assert all(re.search(r"\d+%$", text) for text in shown)
    assert any(text.startswith("feint") for text in shown)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    assert "pick a card at the same time" in dialog.inner_text()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.keyboard.press("c")
    page.wait_for_selector(".advice", state="detached")


def test_that_game_is_reviewed(visit, played):
    each = visit()
    page = each.go("#/review", "table.games a")
    page.locator(f"table.games a[href='#/review/{played.id}']").click()
    page.wait_for_selector(".chart .mark")
    assert page.locator("h1").inner_text() in ("Ada beat Nina", "Nina beat Ada")
    assert page.locator(".choices-table tbody tr").count() == 2 * len(played.winner.actions)
    assert page.locator("h3", has_text=re.compile("^(Ada|Nina)$")).all_inner_texts() == 2 * ["Ada", "Nina"]
    # It opens where the person lost most, and shows what the choices were worth.
    losses = {when: float(lost or 0) for when, *_, lost in rows_of_choices(page, "Ada")}
    shown = page.locator(".stepping h2").inner_text()
    measure, breath = re.fullmatch(r"Measure\s(\d+), breath\s(\d+)", shown).groups()
    assert losses[f"{measure}, {breath}"] == max(losses.values())
    for _, _, chance, _, best_chance, lost in rows_of_choices(page, "Ada"):
        assert abs(percents(best_chance) - percents(chance) - float(lost or 0)) < 0.16
    assert page.locator(".mark").count() == 2 * len(played.winner.actions)
    worst = page.locator(".worst").inner_text()
    assert re.search(r"lost \d+\.\d points of win probability in all, judged by Nina\.", worst)
    assert page.locator("h2", has_text="judged by Nina").count() == 2

    page.goto(f"{each.address}/links/games/{played.id}")
    page.wait_for_url(f"**/#/review/{played.id}")
    # A link opens any choice of both.
    for side in (played.winner, played.loser):
        page.goto(f"{each.address}/#/review/{played.id}/{'0' * 32}/{side.states[-1]}")
        page.locator(".stepping .next[disabled]").wait_for()
        page.goto(f"{each.address}/#/learn")


def rows_of_choices(page: Page, name: str) -> list[list[str]]:
    rows = page.get_by_role("region", name=f"Choices of {name}").locator("tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def percents(text: str) -> float:
    return float(text.removesuffix("%"))


def test_a_state_is_explored_by_link_and_by_code(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"]).go("#/explore", "details.move")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    words = page.locator(".reason").inner_text()
    page.locator("details.move summary").first.click()
    assert page.locator("details.move[open] tbody tr").count() >= 1
    # What is no code is refused in words that name the form of one.
    page.get_by_label("Code").fill("12")
    page.get_by_role("button", name="Go").click()
    flaw = "The code of a position has 18 digits. A hand has initials of cards, such as rrspp"
    assert page.get_by_label("Code").evaluate("(code) => code.validationMessage").startswith(flaw)
    # A hand has the same answer as on its own page, for all discard piles or the one that is typed.
    for typed, route, told in (
        ("sg", "sg", "Means over all 4"),
        (" SG p ", "sg/p", "The answer is for this discard pile."),
    ):
        page.get_by_label("Code").fill(typed)
        page.get_by_role("button", name="Go").click()
        page.get_by_text(told).wait_for()
        assert page.url.endswith(f"#/hand/{route}")
        assert page.locator(".reason").evaluate(IS_IN_VIEW)
        page.go_back()
        page.wait_for_selector("details.move")
    # On phones, the answer is above the form, and comes into view.
    page.set_viewport_size(PHONE)
    code = str(decimals_of(StateSpace(PRESETS["tiny"]), np.array([100]))[0])
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Go").click()
    page.wait_for_function("(words) => document.querySelector('.reason').innerText !== words", arg=words)
    assert page.url.endswith(f"/{code}")
    assert page.locator(".reason").evaluate(IS_IN_VIEW)
    each = visit()
    # A shared position asks first, and answers after a move.
    # Values of another scale are shown as chances.
    shown: list[float] = []

    def scaled(why: Any) -> Any:
        shown.append(max(action["value"] for action in why["actions"]))
        for action in why["actions"]:
            action |= {"value": 2 * action["value"] - 1, "policy": 1 / len(why["actions"])}
        return why | {"worst": -1, "best": 1}

    change_answers(each.page, "**/why/*", scaled)
    # An agent from a file, with the description of a learned enemy.
    learned = {"person": "naive", "level": None, "about": "learned from 12 choices"}
    change_answers(each.page, "**/models", lambda found: [found[0] | learned, *found[1:]])
    fresh = each.go(link.removeprefix(f"{each.address}/"), ".practice .hand")
    assert (fresh.locator(".answer").count(), fresh.url[-28:]) == (0, f"/position/{link[-18:]}")
    type_an_answer(fresh)
    assert f" wins {shown[0]:.1%}" in fresh.locator("p.verdict").inner_text()
    assert each.flaws() == []
    assert fresh.get_by_role("link", name="Learn in a minute").count() == 1
    fresh.get_by_role("link", name="Explore this position").click()
    fresh.get_by_text("naive does not know this position.").wait_for()
    assert fresh.locator(".reason").inner_text() == words


def test_the_judge_explains_unless_another_agent_is_chosen(visit):
    each = visit(size=PHONE)
    # Agents from files come first.
    change_answers(each.page, "**/models", lambda found: sorted(found, key=lambda model: model.get("level") == "hard"))
    page = each.go("#/explore", "details.move")
    assert page.get_by_label("Agent").evaluate("(agent) => agent.selectedOptions[0].text").startswith("Nina ")
    page.get_by_role("heading", name="Chance of winning with each move, against Nina", exact=True).wait_for()
    page.get_by_label("Agent").select_option(index=1)
    heading = page.get_by_role("heading", name="Chance of winning with each move, against")
    page.locator("h2", has_not_text="Nina").and_(heading).wait_for()
    chosen, told = page.url.split("/")[-2], heading.inner_text()
    # The page of hands would answer as the judge.
    page.get_by_label("Code").fill("sg")
    page.get_by_role("button", name="Go").click()
    page.wait_for_url(f"**#/explore/{chosen}/*")
    page.wait_for_selector("section:not(.stale) details.move")
    assert heading.inner_text() == told
    assert each.flaws() == []


def test_a_position_is_clicked_together_and_an_impossible_one_refused_in_words(browser, address):
    visit = Visit(browser, address)
    page = visit.go("#/explore", "details.move")
    page.locator("[data-focus=enemy_handless]").click()
    page.wait_for_selector(".reason.bad")
    assert "The discard pile has 1 card, but must have 2" in page.locator(".reason").inner_text()
    # The refusal is an answer of the server, which browsers log.
    assert all("422" in trouble for trouble in visit.troubles)
    page.locator("[data-focus=enemy_handmore]").click()
    page.wait_for_selector(".reason:not(.bad)")
    assert page.locator("details.move").count() > 1
    visit.end()


def type_an_answer(page: Page) -> None:
    """Type the last card, as a feint if possible: nothing is answered before Enter is pressed."""
    if page.get_by_role("button", name="Feint").count():
        page.keyboard.press("f")
    page.keyboard.press(str(page.locator(".practice .hand button:enabled").last.get_attribute("data-kind"))[0])
    assert page.locator(".confirm").evaluate("(button) => button === document.activeElement")
    assert page.locator("p.verdict").count() == 0
    page.keyboard.press("Enter")
    page.wait_for_selector("p.verdict")


@pytest.mark.usefixtures("played")
def test_a_practice_round_is_typed_and_ends_with_its_score(visit):
    each = visit()
    page = each.go("#/practice", ".practice .hand")
    assert page.locator(".score").inner_text() == "No answers yet."
    n_questions = int(page.locator("h2", has_text="Question 1 of").inner_text().split()[3].rstrip(":"))
    for number in range(1, n_questions + 1):
        type_an_answer(page)
        assert re.match(rf"All rounds: \d+ of {number} right", page.locator(".score").inner_text())
        page.locator(".why", has_text="decides (").wait_for()
        assert each.flaws() == [], number
        page.keyboard.press("Enter")
    page.wait_for_selector(".round")
    assert each.flaws() == []
    score = page.locator(".round p").inner_text()
    assert page.locator(".round").bounding_box()["width"] > 300
    assert re.search(rf"^\d+ of {number} right, \d+\.\d points", score)
    # What was missed is listed, with links to the positions.
    missed = page.locator(".round li").all()
    assert len(missed) == number - int(score.split()[0])
    for each_missed in missed:
        words = each_missed.inner_text()
        assert re.search(r"You chose .*; .* wins \d+\.\d points more, judged by Nina\. Explore this position$", words)
        assert re.fullmatch(r"#/explore/[0-9a-f]{32}/\d{18}", each_missed.locator("a").get_attribute("href"))
    page.reload()
    page.wait_for_selector(".practice .hand")
    assert f" of {number} right" in page.locator(".score").inner_text()
    type_an_answer(page)
    page.get_by_role("button", name="Reset score").click()
    page.wait_for_selector(".practice .hand button:enabled")
    assert page.locator(".score").inner_text() == "No answers yet."
    assert page.locator("h2", has_text="Question 1 of").count() == 1


def test_an_answer_nearly_as_good_counts_as_right(visit):
    def even_out(found: dict[str, Any]) -> dict[str, Any]:
        for question in found["positions"]:
            question["actions"] = [each | {"value": 0.5} for each in question["actions"]]
            question["actions"][-1]["value"] = 0.505
            question["best"] = question["actions"][-1]["action"]
        return found

    each = visit(size={"width": 390, "height": 420})
    change_answers(each.page, "**/practice?*", even_out)
    page = each.go("#/practice", ".practice .hand")
    # The same answer again gives it, as at the table.
    card = page.locator(".practice .hand button:enabled").first
    card.click()
    assert (page.locator("p.verdict").count(), page.locator(".hand [aria-pressed=true]").count()) == (0, 1)
    assert page.locator(".confirm").evaluate(IS_IN_VIEW)
    page.keyboard.press("Escape")
    card.click()
    card.click()
    assert page.locator("p.verdict.good").inner_text().startswith("✓ Nearly as good")
    assert page.locator(".score").inner_text().startswith("All rounds: 1 of 1 right, 0.5 points")


def test_a_hand_is_typed_on_the_start_page_and_its_best_card_shown(visit):
    each = visit(size=PHONE)
    page = each.go("#/play", ".start")
    page.get_by_label("Your hand").fill("rs")
    page.keyboard.press("Enter")
    page.locator(".reason").wait_for()
    assert page.url.endswith("#/hand/rs")
    assert page.locator(".reason").inner_text().startswith("Play ")
    assert page.locator("tbody tr").count() == 4
    page.get_by_label("Discard pile").fill("P")
    page.get_by_text("Hearts, rests and feints").click()
    ask = page.get_by_role("button", name="What do I play?")
    for typed in ("9", "2/2"):
        page.get_by_label("Hearts, yours").fill(typed)
        ask.click()
        # The old answer does not stay beside a refused value.
        assert page.locator(".reason").count() == 0 or typed == "2/2"
    page.wait_for_url("**#/hand/rs/p/hp=2-2")
    page.get_by_role("link", name="See why").click()
    page.locator("details.move").first.wait_for()


def test_the_puzzle_of_the_day_is_asked_once_a_day_and_counts_a_streak(visit, address):
    each = visit()
    model = next(model for model in json.load(urlopen(f"{address}/models")) if model["name"] == "naive")
    practice = json.load(urlopen(f"{address}/practice?model={model['digest']}&n=1"))
    rating, sent = {"answers": 0, "rating": None, "rating_margin": None}, []

    def answer(route: Route, found: dict[str, Any]) -> None:
        body = route.request.post_data_json
        sent.append(body and (body["name"], body["day"]))
        route.fulfill(json=rating if body else found)

    def solve(day: str, right: bool) -> str:
        found = practice | {"day": day, "number": 7, "rating": rating, "solved": 0.25}
        each.page.unroute_all()
        each.page.route(re.compile(r"/puzzle(\?|$)"), lambda route: answer(route, found))
        page = each.go(f"?{day}{right}#/puzzle", ".practice .hand")
        assert page.locator(".title").inner_text().startswith("Puzzle 7")
        assert "about 75% of players choose badly here" in page.locator(".title").inner_text()
        if page.locator("p.verdict").count():  # the first answer of this day is shown again
            return page.locator(".score").inner_text()
        (question,) = practice["positions"]
        best, worst = (choose(question["actions"], key=lambda action: action["value"]) for choose in (max, min))
        action = (best if right else worst)["action"]
        if action % 10:
            page.keyboard.press("f")
        page.keyboard.press(CARDS[action // 10 - 1][0])
        page.keyboard.press("Enter")
        page.get_by_text(
            re.compile(r"Your first answer counts\. The next puzzle appears at midnight UTC, in \d+ (h|min)\.")
        ).wait_for()
        return page.locator(".score").inner_text()

    assert solve("2026-12-01", True) == solve("2026-12-01", False) == "Your streak: 1 day."
    assert solve("2026-12-02", True) == solve("2026-12-01", True) == "Your streak: 2 days."
    none = "Your streak: 0 days. Each successive day with a right first answer adds one."
    assert solve("2026-12-03", False) == none == solve("2026-12-03", True)
    assert each.page.locator("p.verdict.bad").count() == 1
    assert solve("2026-12-04", True) == solve("2026-12-06", True) == "Your streak: 1 day."
    # Each first answer of a day is sent once.
    names, days = zip(*filter(None, sent), strict=True)
    assert days == tuple(f"2026-12-0{day}" for day in (1, 2, 3, 4, 6))
    # A browser without a name has one of its own.
    assert re.fullmatch(r"(Guest \d{6} ?)\1{4}", " ".join(names) + " ")
    rating |= {"answers": 10, "rating": 123.4, "rating_margin": 200.2}
    solve("2026-12-07", True)
    each.page.get_by_text("Puzzle rating: 123 ± 200 (10 puzzles).").wait_for()
    assert each.flaws() == []


@pytest.mark.usefixtures("played")
def test_your_worst_positions_are_practiced_at_once(visit, address):
    each = visit()
    model = next(entry for entry in json.load(urlopen(f"{address}/models")) if entry["judges"])
    asked = json.load(urlopen(f"{address}/practice?model={model['digest']}"))
    # One game may have no costly choices.
    habit = {"situation": "breath 1", "play": "guard", "choices": 3, "of": 4, "loss": 0.1, "cost": 0.1, "share": 0.75}
    habit |= {"reference_share": 0.5, "instead": {"rush": 1.0}, "positions": asked["positions"][:1]}
    habit |= {"is_uncertain": True}
    sure = habit | {"positions": [], "is_uncertain": False}
    more = {"positions": asked["positions"], "habits": [habit, sure], "rating": 1.2, "rating_margin": 3.4}
    more |= {"puzzles": {"answers": 1, "rating": None, "rating_margin": None}}
    change_answers(each.page, "**/improve?*", lambda found: found | more)
    page = each.go("#/you/Ada", "table")
    lead = page.locator(".title p").inner_text()
    assert lead.startswith("Ada: 1 game")
    assert "Game rating: 1 ± 3 (0 is the mean of all players here). " in lead
    assert "Puzzle rating: after ten puzzles (1 of 10 answered). " in lead
    assert page.locator(".lessons").last.locator("li").count() == len(asked["positions"])
    assert page.get_by_text("Chosen only 3 times: this might be chance.").count() == 1
    assert page.locator(".chart").count() == page.get_by_text(re.compile(r"^n = \d+$")).count() == 1
    assert page.locator(".lessons p").all_inner_texts() == [
        f"In breath 1 Ada chooses guard too often: Nina 50%, Ada 75%. {more}".strip() for more in ("Practice this", "")
    ]
    for details in page.locator(".lessons details summary").all():
        details.click()
    # The judge is named beside each number of points.
    named = page.locator(".title p, th, .lessons li", has_text=re.compile("points"))
    assert named.count() == 1 + 2 + 2 + len(asked["positions"])
    assert all("judged by Nina" in text for text in named.all_inner_texts())
    page.get_by_role("button", name="Practice these positions").click()
    page.locator("h2", has_text=f"Question 1 of {len(asked['positions'])}:").wait_for()
    type_an_answer(page)
    page.get_by_role("link", name="Back to You").click()
    page.wait_for_selector(".lessons")
    assert each.flaws() == []
    page.get_by_role("button", name="Practice this").click()
    page.get_by_text("Where guard cost you most: breath 1.").wait_for()
    page.locator("h2", has_text="Question 1 of 1:").wait_for()
    page.get_by_role("link", name="Back to You").click()
    page.wait_for_selector(".lessons")
    page = each.go("#/you", ".title p")
    page.get_by_text("No games of yours yet. Finish one on the Play page, or choose your name.").wait_for()
    page.get_by_label("Player").select_option("Ada")
    page.wait_for_selector(".halves table")


@pytest.mark.usefixtures("played")
def test_the_dashboard_counts_the_games_and_plots_wait_for_ten(visit, database):
    each = visit()
    page = each.go("#/dashboard", ".tiles")
    with open_to_read(database) as connection:
        n_games = len(list(read_games(connection)))
    assert page.locator(".tile dd").first.inner_text() == str(n_games)
    assert page.locator("th", has_text="Ada").count() == 1
    n_positions = StateSpace(PRESETS["tiny"]).n_states
    assert page.locator(".tile dd").last.inner_text().endswith(f" of {n_positions:,}")
    for n_games in (9, 10):
        change_answers(each.page, "**/dashboard", lambda found, n=n_games: found | {"games": n})
        page = each.go("", ".start")
        page = each.go("#/dashboard", ".tiles")
        assert page.get_by_text("Play more games to see plots.").is_visible() == (n_games < 10)
        assert (page.locator(".plot").count() > 0) == (n_games == 10)
    page.locator(".plot img").first.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('.plot img').naturalWidth > 0")


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize("touch", [False, True])
def test_every_page_fits_every_size_in_light_and_dark(visit, touch):
    each = visit(has_touch=touch, is_mobile=touch)
    page, found = each.page, {}
    show_limits(page)

    def look(name: str, sizes: list[tuple[int, int]], held: str | None = None) -> None:
        """Note the flaws of a page, and the buttons ``held`` that a player has to scroll for."""
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            flaws = each.misplaced() + (["wide"] if each.width() > width else [])
            if held is not None:
                page.evaluate("scrollTo(0, 0)")
                seen = [button for button in page.locator(held).all() if button.is_visible()]
                flaws += [button.inner_text() for button in seen if not button.evaluate(IS_IN_VIEW)]
            assert page.locator(".wide:not([tabindex])").evaluate_all(FITS), name
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                flaws += each.flaws()
            found[name, width, height] = flaws

    sizes = SMALL[:2] if touch else [(1280, 800)]
    for route, waits_for in (ROUTES | SIZED_ROUTES).items():
        each.go(route, waits_for)
        if route == "#/explore":
            page.locator("details.move summary").first.click()
            assert page.locator("details[open] th", has_text="how often").is_visible()
        look(route, sizes)
    each.go("#/review", "table.games a").locator("table.games a").first.click()
    page.wait_for_selector(".chart .mark")
    look("one game", sizes)
    sit_down(each, f"Flo {touch}")
    sizes = [*sizes, *([(640, 360)] if touch else [])]
    look("table", sizes, IN_GAME)
    page.locator(".hand button:enabled").first.click()
    look("pick", sizes, IN_GAME)
    page.get_by_role("button", name="Coach").click()
    page.wait_for_selector(".advice")
    look("coach", sizes, IN_GAME)
    assert {key: flaws for key, flaws in found.items() if flaws} == {}


def test_colors_can_be_changed_and_stay_so(visit):
    page = visit().go("#/you", "main h1")
    color = "getComputedStyle(document.body).color"
    before = page.evaluate(color)
    page.locator("#theme").click()
    page.reload()
    page.wait_for_selector("main h1")
    assert page.evaluate(color) != before


def show_limits(page: Page, uncertainty: float = 0.02) -> None:
    """Answer requests for a balance at once."""
    names = ("group", "name", "words", "base", "value", "is_minimum", "limit", "uncertainty")
    shown = [
        ("plays", "rush", "rush is 5.1 % of all choices", None, 0.051, True, 0.05, 0.02),
        ("in_hand", "strike", "one more strike in hand is worth +27.4 points of win rate", 0.028, 0.274, False, 0.1, 0),
        ("plays", "punish", "punish is 8.0 % of all choices", None, 0.08, True, 0.05, uncertainty),
    ]
    found = {"verdict": "Not balanced: one more strike in hand is worth +27.4 points of win rate."}
    found |= {"changed": {"balanced": False}, "finding": "With damage.strike=3 instead of 2, less."}
    found["limits"] = [dict(zip(names, each, strict=True)) for each in shown]
    page.route("**/balance?*", lambda route: route.fulfill(json=found))


def test_changed_rules_end_the_study_of_others(visit):
    each = visit()
    each.page.route("**/balance?*", lambda _: None)
    page = each.go("#/rules/1,2,1,2,1/0,1,0,3,3", "form .main:disabled")
    page.get_by_label("Damage of strike").fill("4")
    page.locator("form .main:enabled").click()
    page.get_by_text("Two players learn this game.").wait_for()
    assert page.locator("main [role=alert]").count() == 0
    # Too few cards can be neither studied nor played, also after a study.
    page.get_by_label("Copies of guard").fill("0")
    page.get_by_text("A game needs at least 7 cards.").wait_for()
    page.wait_for_timeout(100)
    assert page.locator("form button:disabled").all_inner_texts() == ["Is it balanced?", "Play these rules"]


def test_a_first_answer_that_is_late_or_uncertain_is_no_error(visit):
    each = visit(size=PHONE)
    asked = []

    def answer(route):
        asked.append(route.request.url)
        if "seconds=15" in asked[-1]:
            route.fulfill(status=409, json={"detail": "the time limit of 15 s has passed"})

    each.page.route("**/balance?*", answer)
    page = each.go("#/rules", ".sliders")
    page.get_by_label("Copies of rush").fill("1")
    page.get_by_text("A game needs at least 7 cards.").wait_for()
    assert page.locator("form button:disabled").count() == 2
    page.get_by_label("Copies of guard").fill("3")
    page.get_by_role("button", name="Is it balanced?").click()
    told = page.get_by_text("Still computing: it is too early for an answer.")
    told.wait_for()
    box = told.bounding_box()
    assert 0 < box["y"] < box["y"] + box["height"] < PHONE["height"]
    assert page.get_by_label("Progress").count() == 1
    assert page.locator("main [role=alert]").count() == 0
    # An answer is kept.
    page.unroute("**/balance?*")
    show_limits(page, uncertainty=0.04)
    page.get_by_label("Copies of guard").fill("4")
    page.get_by_role("button", name="Is it balanced?").click()
    page.locator(".limit", has_text="? Punish is 8.0 % of all choices.").wait_for()
    page.unroute("**/balance?*")
    page.route("**/balance?*", lambda route: route.abort())
    page.get_by_label("Copies of guard").fill("5")
    page.get_by_label("Copies of guard").fill("4")
    page.get_by_role("button", name="Is it balanced?").click()
    page.locator(".limit").first.wait_for()
    assert len(asked) == 2
    # The browser reports the early request on its console.
    assert [trouble[-14:] for trouble in each.troubles] == ["409 (Conflict)"]
    each.troubles.clear()


def test_house_rules_are_changed_judged_and_played(visit):
    each = visit()
    show_limits(each.page)
    page = each.go("#/play", ".start")
    page.get_by_role("link", name="Change the rules").click()
    page.get_by_label("Damage of strike").fill("3")
    page.get_by_text("Changed: strike deals 3 instead of 2.").wait_for()
    page.get_by_role("button", name="Is it balanced?").click()
    page.locator("h2", has_text="Not balanced").wait_for()
    shown = page.locator(".limit").all_inner_texts()
    assert shown[0].startswith("✗ One more strike")
    assert "At most 10.0 points. Before the change, strike: 2.8 points." in shown[0]
    assert "? Rush" in shown[1]
    assert "At least 5.0%. Still uncertain by 2.0%." in shown[2]
    assert page.url.endswith("#/rules/1,2,1,2,1/0,1,0,3,3")
    page.reload()
    page.locator("h2", has_text="Not balanced").wait_for()
    page.get_by_text("With a strike dealing 3 instead of 2, less.").wait_for()
    page.get_by_role("button", name="Play these rules").click()
    page.wait_for_selector(".controls")
    assert page.locator(".status", has_text="a strike dealing 3").count() == 1
    play_out(page, by_clicks)
    page.get_by_text("Games under changed rules are not saved.").wait_for()
    page.get_by_role("link", name="Change these rules").click()
    page.get_by_text("Changed: strike deals 3 instead of 2.").wait_for()
    page.go_back()
    page.get_by_role("button", name="Return to the usual rules").click()
    page.wait_for_selector(".start")
    # This opponent is offered neither as a judge of other games nor on the start page.
    judges = visit().go("#/practice", ".practice .hand").get_by_label("Judged by").locator("option").all_inner_texts()
    assert len(set(judges)) == len(judges)
    # The last changes are kept. Other rules hide an answer.
    page = each.go("#/rules", ".sliders")
    page.get_by_text("Changed: strike deals 3 instead of 2.").wait_for()
    page.get_by_role("button", name="Is it balanced?").click()
    page.locator(".limit").first.wait_for()
    page.get_by_role("button", name="Undo all changes").click()
    page.locator(".limit").first.wait_for(state="hidden")
    page.get_by_text("Nothing is changed yet.").wait_for()


def test_the_moment_of_a_game_is_shown_and_replayed(visit):
    each = visit(size=PHONE)
    for seed in range(20):
        page = choose_opponent(each, "naive")
        page.locator(".seat-form input[inputmode]").fill(str(seed))
        page.get_by_role("button", name="Start the game").click()
        page.wait_for_selector(".controls")
        assert page.evaluate("scrollY") == 0
        play_out(page, by_clicks)
        page.get_by_text("Judged by Nina").wait_for()
        if page.locator(".moment").count():
            break
        page.get_by_role("button", name="Choose another opponent").click()
    moment = page.locator(".moment")
    own, better = page.locator(".compared .card").evaluate_all("(cards) => cards.map((card) => card.dataset.card)")
    assert own in moment.locator(".hand .card").evaluate_all("(cards) => cards.map((card) => card.dataset.card)")
    told = page.locator(".costliest .told").inner_text()
    assert f"{better} would have won" in told
    assert f"{own} won" in told
    assert (each.flaws(), each.width()) == ([], PHONE["width"])
    hand = moment.locator(".hand .card .name").all_inner_texts()
    page.get_by_role("button", name="Replay from here").click()
    page.wait_for_selector(".hand button.card")
    assert page.locator(".hand button.card .name").all_inner_texts() == hand
    assert page.evaluate("scrollY") == 0
    play_out(page, by_clicks)
    page.get_by_text("Replays are not saved.").wait_for()


def test_a_card_is_played_by_a_flick_of_the_finger(visit):
    page = sit_down(visit(size=PHONE, has_touch=True), "Fay")
    page.get_by_text("Tap a card, or flick it up to play it at once.").wait_for()
    flick = """(card, [kind, by]) => {
        for (const [type, y] of [["pointerdown", 500], ["pointerup", 500 - by]])
            card.dispatchEvent(new PointerEvent(type, { pointerType: kind, clientY: y, bubbles: true }));
    }"""
    held, log = page.locator(".hand button:enabled").first, breath_of(page)
    for less in (["touch", 20], ["mouse", 90]):
        held.evaluate(flick, less)
        assert (breath_of(page), page.locator(".hand [aria-pressed=true]").count()) == (log, 0)
    held.evaluate(flick, ["touch", 90])
    after(page, log)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_clash_turns_both_cards_with_sounds_that_can_be_turned_off(visit, motion):
    each = visit(reduced_motion=motion)
    each.page.add_init_script("""
        window.tones = 0;
        const create = AudioContext.prototype.createOscillator;
        AudioContext.prototype.createOscillator = function () { window.tones += 1; return create.call(this); };
        window.turned = [];
        addEventListener("animationstart", ({ animationName: name }) => {
            if (name === "flip") window.turned.push(name);
            if (name === "break") window.broken += 1;
        });
    """)
    page = sit_down(each, f"Mo {motion}")
    for n_turned in (2, 0):
        tones, log = page.evaluate("window.tones"), breath_of(page)
        page.evaluate("window.turned = []")
        by_clicks(page, 0)
        after(page, log)
        reason = page.locator(".result strong").inner_text()
        assert reason in page.locator(".log").inner_text()
        assert re.fullmatch(r"(The|Both|Guard|Dodge|Rush|Strike) .*\.", reason)
        page.wait_for_timeout(200)
        assert (page.evaluate("window.tones") > tones) == (n_turned == 2)
        assert len(page.evaluate("window.turned")) == (2 if motion == "no-preference" else 0)
        # Lost hearts break once, not again when a card is picked.
        page.wait_for_timeout(1300)
        page.evaluate("window.broken = 0")
        if page.locator(".hand button:enabled").count():
            page.locator(".hand button:enabled").first.click()
            page.wait_for_timeout(100)
        assert page.evaluate("window.broken") == 0
        if page.locator(".ending").is_visible():
            page.get_by_role("button", name="Play again").click()
            page.wait_for_selector(".controls")
        if n_turned:
            page.get_by_role("button", name="Turn sounds off").click()
    page.reload()
    page.get_by_role("button", name="Turn sounds on").wait_for()


def test_the_start_page_opens_games_at_once_and_unknown_addresses_lead_to_it(visit, address):
    each = visit()
    page = each.go("nonsense", ".page-nowhere h1")
    assert page.locator("h1").inner_text() == "There is no such page"
    page.get_by_role("link", name="start page").click()
    page.wait_for_selector(".opponent")
    shown = page.locator(".opponent").all_inner_texts()
    assert [text.split()[:2] for text in shown] == [["Clara", "easy"], ["Axel", "medium"], ["Nina", "hard"]]
    page.locator(".opponent", has_text="Axel").click()
    page.keyboard.press("Enter")
    page.wait_for_selector(".hand")
    assert page.locator(".foe h2").inner_text() == "Axel"
    page.evaluate("localStorage.clear()")
    # The agent of a file is offered, too.
    mine = {"name": "mine", "person": "mine", "level": None, "about": None, "strength": None}
    change_answers(page, "**/models", lambda models: [*models, models[0] | mine])
    page.reload()
    page.wait_for_selector(".opponent")
    assert page.locator(".opponent").last.inner_text().split() == ["mine", "An", "agent", "from", "a", "file."]
    page.unroute("**/models")
    page.goto(f"{address}/#/play")
    page.reload()
    page.get_by_role("button", name="Play Tic-tac-toe").click()
    page.wait_for_selector(".squares")


@pytest.mark.usefixtures("played")
def test_a_first_visit_begins_with_the_lesson_and_a_later_one_with_a_greeting(visit):
    each = visit(size={"width": 390, "height": 664})
    page = each.go("#/play", ".start")
    assert page.get_by_role("link", name="Learn in a minute").evaluate(IS_IN_VIEW)
    name = page.get_by_label("Your name")
    assert re.fullmatch(r"Guest \d{6}", str(name.get_attribute("placeholder")))
    # A user without games is greeted, too.
    for user in ("Zed", "Ada"):
        name.fill(user)
        name.blur()
        page.reload()
        page.get_by_text(f"Hello {user}:").wait_for()
        page.wait_for_load_state("networkidle")
    page.get_by_role("link", name="review your last game against Nina").wait_for()
    page.get_by_role("link", name="practice your habits").wait_for()
    assert (each.flaws(), each.misplaced()) == ([], [])


def test_browsers_that_store_nothing_have_different_names(visit):
    names = set()
    for each in (visit(), visit()):
        each.page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } });")
        page = each.go("#/play", ".start")
        names.add(page.get_by_label("Your name").get_attribute("placeholder"))
    assert len(names) == 2
    assert all(re.fullmatch(r"Guest \d{6}", str(name)) for name in names)


def test_a_measure_is_learned_by_keys_and_ends_with_a_game(visit):
    each = visit()
    page = each.go("#/learn", ".learn .hand")
    for step, keys in enumerate(["", "", "g", "d", "s", "fg", ""], 1):
        assert f"{step} of 8" in page.locator(".learn").inner_text()
        for key in [*keys, "Enter"]:
            page.keyboard.press(key)
    assert page.locator(".player .hp").all_inner_texts() == ["2 hearts", "3 hearts"]
    assert each.flaws() == []
    page.keyboard.press("Enter")
    page.wait_for_selector(".log")
    assert page.locator(".foe h2").inner_text() == "Clara"


SMALL = [(390, 664), (360, 640), (390, 844), (664, 390), (844, 390)]
IS_IN_VIEW = """(button) => {
  const {top, bottom, left, right} = button.getBoundingClientRect();
  const hit = [top + 4, bottom - 4].map((y) => document.elementFromPoint((left + right) / 2, y));
  return top >= 0 && bottom <= innerHeight && hit.every((element) => button.contains(element));
}"""


def tap_at_the_edge(page: Page) -> None:
    """Pick the first card, of which little shows above the lower edge if the page can be scrolled so."""
    card = page.locator(".hand button:enabled").first
    card.evaluate("(card) => scrollBy(0, card.getBoundingClientRect().top + 30 - innerHeight)")
    box = card.bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 12)


@pytest.mark.parametrize(("width", "height"), SMALL)
def test_a_picked_card_is_played_by_a_button_above_the_edge(visit, width, height):
    each = visit(size={"width": width, "height": height}, has_touch=True, is_mobile=True)
    page = sit_down(each, "Una")
    play_out(page, lambda page, _: by_taps(page, width))
    # At the end, other pages are a tap away.
    assert (page.locator(".pages").is_visible(), each.width()) == (True, width)
    for opponent in ("perfect-connect4", "rule-of-thumb-gwent"):
        page.evaluate("localStorage.clear()")
        page.reload()
        sit_down(each, "Una", opponent)
        page.locator(".squares button, .gwent-card:enabled").first.tap()
        assert page.locator(".confirm").evaluate(IS_IN_VIEW), opponent


def by_taps(page: Page, width: int) -> None:
    assert width > 720 or not page.locator(".pages").is_visible()
    if page.locator(".hand button:enabled").count():
        tap_at_the_edge(page)
        assert page.locator(".confirm").evaluate(IS_IN_VIEW)
    if page.get_by_role("button", name="Feint").count():
        page.get_by_role("button", name="Feint").tap()
        assert page.locator(".confirm").evaluate(IS_IN_VIEW)
    page.locator(".confirm").tap()


@pytest.mark.parametrize(("width", "height"), SMALL)
def test_no_other_play_leaves_the_lesson_on_a_phone(visit, width, height):
    each = visit(size={"width": width, "height": height}, has_touch=True, is_mobile=True)
    page = each.go("#/learn", ".learn .hand")
    for step in range(1, 8):
        page.get_by_text(f"{step} of 8").wait_for()
        assert height < 600 or page.locator(".learn p").first.evaluate(IS_IN_VIEW)
        next_step = page.get_by_role("button", name="Next")
        if next_step.is_visible():
            next_step.tap()
            continue
        if step == 6:
            page.get_by_role("button", name="Feint").tap()
        tap_at_the_edge(page)
        plays = page.get_by_text(re.compile("^Play")).locator("visible=true")
        assert plays.count() == 1 + (width > 720)
        assert page.locator(".confirm").evaluate(IS_IN_VIEW)
        page.locator(".confirm").tap()
    page.get_by_text("8 of 8").wait_for()
    assert page.url.endswith("#/learn")
    assert each.width() == width
