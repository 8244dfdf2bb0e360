/** Play page: choose an opponent, and play games at a table. */

import { GONE, get, pause, post, remove } from "./api.js";
import { position } from "./board.js";
import { card, cardOf, restCard } from "./cards.js";
import { announce, calm, complain, h, isTouch, keyButton, percent } from "./dom.js";
import { rendererOf } from "./games.js";
import { keyOf } from "./keys.js";
import { guestName, keep, recall } from "./memory.js";
import { outcome } from "./open_game.js";
import { copyButton } from "./share.js";
import { lastChoice, opponents, welcome } from "./welcome.js";

// Key of the current table in localStorage, so that a reload continues the game.
export const SEAT = "table";
// Maximum number of requests, five per second, to check whether a finished game has been saved.
const TRIES = 25;
// Milliseconds to wait for a response before showing a message.
const PATIENCE = 300;
// Milliseconds after the end of a game during which Enter does not begin another game, so that a double press does not
// skip the result.
const QUIET = 300;

// Address of the page. The end of a game against agents has an address of its own, to which "back" returns.
const addressOf = (table) => (table && !table.is_on ? `#/play/${table.table}` : "#/play");

export async function show(main, [ended], isCurrent) {
  const models = await opponents();
  if (!isCurrent()) return null;
  const last = recall(SEAT, null);
  // A game that is on comes before the end of an earlier one, whose buttons would discard it.
  if (ended && last && last !== ended) return void location.replace("#/play");
  const known = ended ?? last;
  let lost = null;
  const table = known && (await get(`/tables/${known}`).catch((error) => nothingIfGone((lost = error))));
  if (!isCurrent()) return null;
  if (ended && !table) return void location.replace("#/play");
  // Games with friends have their own page.
  if (table?.is_on && table.friend) return void location.replace(`#/friend/${table.friend.invitation}`);
  const seat = new Seat(main, models);
  if (table && (table.is_on || !table.friend)) seat.sitDown(table);
  else seat.welcome();
  if (lost) complain(lost);
  return () => seat.leave();
}

function nothingIfGone(error) {
  if (error.status !== GONE) throw error;
  return null;
}

/** A person's seat: first a form, then the game. */
export class Seat {
  constructor(main, models) {
    this.main = main;
    this.models = models;
    this.listener = (event) => this.onKey(event);
    document.addEventListener("keydown", this.listener);
  }

  leave() {
    this.isGone = true;
    this.table = null;
    document.removeEventListener("keydown", this.listener);
    document.querySelector("dialog")?.close();
  }

  /** Return true unless the user has left the page or the table, or has sat down at another one. */
  isAt(table) {
    return !this.isGone && this.table?.table === table;
  }

  welcome() {
    this.table = null;
    this.isBusy = false;
    keep(SEAT, null);
    history.replaceState(null, "", addressOf(null));
    scrollTo(0, 0);
    if (!this.models.length) throw new Error("This server has no opponent. Start it with one: punish-fast serve veteran");
    // Opponents under house rules are chosen on the page of these rules.
    const offered = this.models.filter(({ is_house: isHouse }) => !isHouse);
    this.main.replaceChildren(h("div", { class: "stack" }, welcome(offered, () => this.deal(), () => this.isAt(undefined))));
  }

  /** Begin a game with the settings last chosen in the form. */
  async deal() {
    if (this.isBusy) return;
    this.isBusy = true;
    calm();
    const before = this.table?.table;
    try {
      const table = await post("/tables", lastChoice());
      if (this.isAt(before)) this.sitDown(table);
      else await remove(`/tables/${table.table}`);
    } catch (error) {
      if (this.isAt(before)) complain(error);
    } finally {
      this.isBusy = false;
    }
  }

  sitDown(table) {
    if (table.is_on) keep(SEAT, table.table);
    this.seen = 0;
    this.isBusy = false;
    const board = h("div", { class: "board" });
    this.ending = h("div", { class: "ending", tabindex: "-1", hidden: true });
    this.log = h("div", { class: "log", tabindex: "0", role: "region", "aria-label": "Log of the duel" });
    this.coach = h("div", { class: "coach" });
    this.renderer = new (rendererOf(table.game))(board, (action) => this.play(action));
    const buttons = [
      this.offers("coaches", table) && this.coachToggle(),
      this.offers("hints", table) && keyButton("Hint", "h", { id: "hint", onclick: () => this.hint() }),
      rendererOf(table.game).isInTurn && keyButton("Undo", "u", { id: "undo", disabled: true, onclick: () => this.undo() }),
      keyButton("Rules", "?", { onclick: () => this.help() }),
      this.leaveButton(),
    ];
    const side = h(
      "aside",
      { class: "stack" },
      h("section", { class: "panel stack game-help" }, h("div", { class: "row" }, buttons), this.coach),
      h("section", { class: "panel" }, h("h2", {}, "Log"), this.log),
      h("section", { class: "panel" }, this.renderer.legend(table.rules)),
    );
    this.main.replaceChildren(
      h("h1", { class: "sr" }, `Your game against ${table.names.slice(1).join(" and ")}`),
      h("div", { class: "play" }, h("section", { class: "panel table", "aria-label": "Table" }, board, this.ending), side),
    );
    scrollTo(0, 0);
    this.take(table);
  }

  /** Return true if the opponent supports `what`, such as "coaches" or "hints". */
  offers(what, { opponent }) {
    return this.models.find(({ digest }) => digest === opponent)?.[what];
  }

  coachToggle() {
    const toggle = () => {
      keep("coach", !recall("coach", false));
      button.setAttribute("aria-pressed", String(recall("coach", false)));
      this.advise();
    };
    const button = keyButton("Coach", "c", { id: "coach", "aria-pressed": String(recall("coach", false)), onclick: toggle });
    return button;
  }

  /** Request a hint and show it. */
  async hint() {
    const { table, n_events: n, is_on: isOn } = this.table;
    if (!isOn) return;
    calm();
    try {
      const { moves, exact } = await this.patiently("Looking ahead …", get(`/tables/${table}/hint`));
      if (!this.isAt(table) || this.table.n_events !== n) return;
      this.renderer.hint(moves);
      const best = moves.filter((move) => move.best);
      const names = best.length === moves.length && best.length > 1 ? "All moves are equally good" : `Best: ${best.map(({ name }) => name).join(", ")}`;
      const known = best.length ? `${names} (${outcome(best[0])} with perfect play).` : "The best move is not known yet.";
      const words = exact ? known : `${known} The search was cut short. Ask again to continue it.`;
      this.coach.replaceChildren(h("p", {}, words));
      announce(words);
    } catch (error) {
      if (this.isAt(table)) complain(error);
    }
  }

  /** Undo the last move and the replies to it; also possible after the end of the game. */
  async undo() {
    if (this.isBusy) return;
    this.isBusy = true;
    calm();
    const focused = document.activeElement.id;
    const { table } = this.table;
    try {
      const undone = await post(`/tables/${table}/undo`, { n_events: this.seen });
      if (!this.isAt(table)) return;
      this.sitDown(undone);
      announce("Your last move is undone.");
      if (focused === "undo") document.getElementById("undo").focus();
    } catch (error) {
      await this.mend(error, table);
    } finally {
      this.isBusy = false;
    }
  }

  leaveButton() {
    const ask = () => {
      if (confirm("Leave this game? It will not be saved.")) this.stand();
    };
    this.exit = h("button", { type: "button", id: "leave", onclick: ask }, "Leave", h("span", { class: "optional" }, " the table"));
    return this.exit;
  }

  /** Show a table from the server: draw it, log its new events, and announce them. */
  take(table) {
    // Guests need no name at their own table.
    if (table.names[0] === guestName()) table.names[0] = "you";
    const events = table.events.filter(({ n }) => n >= this.seen);
    this.table = table;
    this.seen = table.n_events;
    if (!table.friend) history.replaceState(null, "", addressOf(table));
    this.renderer.update(table, events);
    record(this.log, this.renderer, events);
    const undo = document.getElementById("undo");
    if (undo && events.some(({ kind, seat }) => kind === "move" && seat === table.seat)) undo.disabled = false;
    const over = table.is_on || isTouch() || table.friend?.is_here === false ? "" : " Press Enter to play again.";
    announce(events.map((event) => this.renderer.words(event)).filter(Boolean).join(" ") + over);
    if (table.is_on) this.advise();
    else this.finish(events.at(-1)?.words ?? "The game is over.");
  }

  /** Wait for a response; show `words` if it takes long. */
  async patiently(words, answer) {
    const line = h("p", { class: "quiet small" }, words);
    const timer = setTimeout(() => this.coach.replaceChildren(line), PATIENCE);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      line.remove();
    }
  }

  async play(action) {
    if (this.isBusy) return;
    this.isBusy = true;
    calm();
    const { table, names } = this.table;
    try {
      const choice = post(`/tables/${table}/choice`, { action, n_events: this.seen });
      const next = await this.patiently(`${names.slice(1).join(" and ")} ${names.length > 2 ? "are" : "is"} thinking …`, choice);
      if (this.isAt(table)) this.take(next);
    } catch (error) {
      await this.mend(error, table);
    } finally {
      this.isBusy = false;
    }
  }

  /** Recover from a refused move: the game may have continued in another window, or the table may be gone. */
  async mend(error, id) {
    if (!this.isAt(id)) return;
    complain(error);
    try {
      const table = await get(`/tables/${id}`);
      if (!this.isAt(id) || table.n_events === this.seen) return;
      this.sitDown(table);
      if (error.status) complain({ message: "The game went on meanwhile; here is its current state." });
    } catch (problem) {
      // Leave the table only if it is gone; a lost connection may recover.
      if (this.isAt(id) && problem.status === GONE) this.welcome();
    }
  }

  /** Show the coach's advice, which assumes the opponent's own strategy or, by default, the judge's. */
  async advise(asOpponent = this.asOpponent ?? false) {
    this.asOpponent = asOpponent;
    const { table, n_events: n, is_on: isOn, names } = this.table;
    this.renderer.advise(null);
    if (!recall("coach", false) || !isOn || !this.offers("coaches", this.table)) {
      this.coach.replaceChildren();
      return;
    }
    if (!this.coach.firstChild) this.coach.replaceChildren(h("p", { class: "quiet small" }, "The coach is thinking …"));
    try {
      const coach = await get(`/tables/${table}/coach`, { as_opponent: asOpponent || null });
      if (!this.isAt(table) || this.table.n_events !== n || this.asOpponent !== asOpponent || !recall("coach", false)) return;
      this.renderer.advise(coach);
      const isOther = coach.judge !== names[1] && !asOpponent;
      const choose = h("button", { type: "button", class: "plain", onclick: () => this.advise(!asOpponent) }, isOther ? `Use how ${names[1]} really plays` : "Back to the usual judge");
      this.coach.replaceChildren(...advice(coach, names[1], isOther && coach.judge), isOther || asOpponent ? choose : "");
    } catch (error) {
      if (this.isAt(table)) this.coach.replaceChildren(h("p", { class: "quiet small" }, error.message));
    }
  }

  finish(words) {
    // Another tab may have begun another game.
    if (recall(SEAT, null) === this.table.table) keep(SEAT, null);
    this.coach.replaceChildren();
    for (const id of ["hint", "coach"]) document.getElementById(id)?.remove();
    this.exit.hidden = true;
    this.ended = performance.now();
    this.ending.hidden = false;
    const isHouse = this.offers("is_house", this.table);
    this.ending.replaceChildren(
      h("p", {}, words),
      h(
        "div",
        { class: "row" },
        keyButton("Play again", "Enter", { class: "main rematch", onclick: () => this.deal() }),
        this.reviewLink(),
        isHouse && h("a", { class: "button", href: "#/rules" }, "Change these rules"),
        h("button", { type: "button", onclick: () => this.stand() }, this.table.friend ? "Leave" : isHouse ? "Return to the usual rules" : "Choose another opponent"),
      ),
      this.offers("judges", this.table) ? this.costliest() : "",
    );
    // Do not focus the button, so that one Enter too many does not skip the result.
    this.ending.focus();
  }

  /** A placeholder to be filled with the costliest choice, as judged by the server, and a link to its position. */
  costliest() {
    const { table, names, rules, friend } = this.table;
    const place = h("div", { class: "costliest" });
    const fill = ({ judge, model, choice }) => {
      const replay = () => post(`/tables/${table}/replay`, { breath: choice.number }).then((again) => (this.isAt(table) ? this.sitDown(again) : remove(`/tables/${again.table}`)), complain);
      const words = choice ? [
        h("h2", {}, "The moment"),
        h("div", { class: "moment" }, position(choice.view, rules, names[0], names[1]), compared(choice)),
        h("div", { class: "told" }, `${choice.words} That cost you most. `, model && h("a", { href: `#/explore/${model}/${choice.state}` }, "See why")),
        !friend && h("button", { type: "button", class: "replay", onclick: replay }, "Replay from here"),
      ].filter(Boolean) : ["No choice of yours lost a point."];
      const like = judge === names[1] ? "" : `, if ${names[1]} played like ${judge}`;
      place.replaceChildren(...words, h("div", { class: "quiet small" }, `Judged by ${judge}: each chance is that of winning with the best moves from there on${like}.`));
    };
    get(`/tables/${table}/costliest`).then(fill, () => place.remove());
    return place;
  }

  /** A placeholder to be filled with a link to the review once the game is saved, or with the reason why it is not. */
  reviewLink() {
    const place = h("span", { class: "kept row" });
    const look = async (table, tries) => {
      if (table.kept !== null) place.replaceChildren(h("a", { class: "button", href: `#/review/${table.kept}` }, "Review this game"), copyButton(`links/games/${table.kept}`));
      else if (table.flaw !== null) place.replaceChildren(table.flaw);
      else if (this.offers("is_house", table)) place.replaceChildren("Games under changed rules are not saved.");
      else if (table.keeps && tries > 0) {
        await pause(200);
        if (!this.isAt(table.table)) return;
        await look(await get(`/tables/${table.table}`, { since: table.n_events }), tries - 1);
      }
    };
    look(this.table, TRIES).catch((error) => error.status !== GONE && complain(error));
    return place;
  }

  /** Leave the table and return to the form. */
  stand() {
    remove(`/tables/${this.table.table}`).catch(() => {});
    this.welcome();
  }

  async help() {
    if (document.querySelector("dialog[open]")) return;
    const { table, is_on: isOn, rules, game } = this.table;
    const paragraphs = isOn ? await guide(table) : [];
    if (!this.isAt(table)) return;
    const keys = isTouch() ? [] : [...this.renderer.keys, this.offers("coaches", this.table) && ["c", "show or hide the coach"], rendererOf(game).isInTurn && ["u", "undo your last move"], ["Enter n", "play again when the game is over"], ["?", "this help"]].filter(Boolean);
    const dialog = h(
      "dialog",
      { "aria-labelledby": "help-title", onclose: () => dialog.remove() },
      h(
        "div",
        { class: "stack" },
        // Focus the heading; otherwise the browser focuses the button and scrolls a long text down to it.
        h("h2", { id: "help-title", tabindex: "-1", autofocus: true }, paragraphs.length ? "The rules that matter now" : "Rules"),
        paragraphs.length ? paragraphs.map((text) => h("p", {}, text)) : rendererOf(game).primer(rules),
        paragraphs.length > 0 && rendererOf(game).clashes?.(rules),
        keys.length > 0 && h("dl", { class: "effects" }, keys.map(([key, meaning]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)])),
        h("div", { class: "row" }, h("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Back to the table")),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  }

  onKey(event) {
    // A held Enter key must not pick a move and then play it.
    if (event.repeat && event.key === "Enter") event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (!this.table || event.target.closest("input, select, textarea, dialog[open]")) return;
    const key = keyOf(event);
    // Enter and space activate the focused button or link.
    if ((key === "Enter" || key === " ") && event.target.closest("button, a, summary")) return;
    if (this.isBusy) return;
    // Arrow keys belong to the board, unless another control has the focus, such as the log, which they scroll.
    if (key.startsWith("Arrow") && !event.target.matches("body, main") && !event.target.closest(".board")) return;
    if (key === "?") this.help();
    else if (key === "c") document.getElementById("coach")?.click();
    else if (key === "h" && document.getElementById("hint")) this.hint();
    else if (key === "u") document.getElementById("undo")?.click();
    else if (!this.table.is_on && (key === "n" || (key === "Enter" && performance.now() - this.ended > QUIET))) this.deal();
    else if (!this.renderer.press(key)) return;
    event.preventDefault();
  }
}

/** Append events to a log. */
export function record(log, renderer, events) {
  for (const event of events) {
    const heading = renderer.heading(event);
    if (heading || !log.lastChild) log.append(h("section", {}, heading && h("h3", {}, heading)));
    const words = renderer.words(event);
    if (words) log.lastChild.append(h("p", {}, words));
  }
  log.scrollTop = log.scrollHeight;
}

/** The card of a choice beside the card of the best choice. */
function compared({ action, name, best, best_action: better }) {
  const shown = (each, words, text) => h("figure", {}, cardOf(each) === "rest" ? restCard() : card(cardOf(each)), h("figcaption", {}, words, h("strong", {}, ` ${text}`)));
  return h("div", { class: "compared" }, shown(action, "You:", name), shown(better, "Better:", best));
}

// Return no paragraphs for games without a guide.
const guide = (table) => get(`/tables/${table}/guide`).then(({ paragraphs }) => paragraphs, () => []);

/** The coach's advice as bar charts. `judge` is the player whose strategy it assumes for the enemy, or false for the enemy's own. */
function advice(coach, enemy, judge) {
  const why = h("p", { class: "why small", "aria-live": "polite" }, isTouch() ? "Tap a move to see why." : "Click a move to see why.");
  const named = ({ name, why: words }) => (words ? h("button", { type: "button", class: "plain", onclick: () => why.replaceChildren(words) }, name) : name);
  const bars = (entries, key, css) =>
    entries.map((entry, k) => [
      h("span", { class: k === 0 && css === "bar" ? "best" : null }, named(entry)),
      h("span", { class: css, vars: { share: `${100 * entry[key]}%` } }),
      h("span", { class: "number" }, percent(entry[key])),
    ]);
  return [
    h("h3", {}, judge ? `Your chance of winning with each move, if ${enemy} played like ${judge}` : `Your chance of winning against ${enemy} with each move`),
    h("div", { class: "advice" }, bars(coach.chances, "win", "bar")),
    coach.chances.length > 1 ? why : "",
    h("h3", {}, judge ? `What ${judge} may do as ${enemy}` : `What ${enemy} may do`),
    h("div", { class: "advice" }, bars(coach.expected.slice(0, 6), "probability", "bar second")),
    h("p", { class: "quiet small" }, `Assuming that you play optimally from here on. The coach knows how ${judge || enemy} plays, but sees no hidden cards.${judge ? ` ${judge} judges all choices here, also at the end of the game.` : ""}`),
  ];
}
