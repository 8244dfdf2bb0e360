/** Base classes of games that are not recorded: rules, log texts, hints instead of a coach, and moves that must be
 * confirmed. */

import { h, keyButton } from "./dom.js";

/** Format the outcome of a move, such as "draw" or "win in 3"; "win" or "?" if the search was cut short. */
export const outcome = ({ outcome: found, plies }) => (plies === null ? found ?? "?" : `${found} in ${plies}`);

/** Return the last move of a seat and all later events, or all events if the seat has not moved, except for the end of
 * the game, which the table shows in large type. */
export const latest = (events, seat) => events.slice(Math.max(0, events.findLastIndex((event) => event.kind === "move" && event.seat === seat))).filter(({ kind }) => kind !== "end");

const paragraphs = (words) => words.split("\n").map((line) => h("p", {}, line));

export class OpenGame {
  /** True if players take turns and either may begin. */
  static isInTurn = true;

  /** Subclasses implement `draw()`, and set `data-action` of controls to their action; `picked` is the move to be
   * confirmed, or null. */
  constructor(place, choose) {
    this.place = place;
    this.choose = choose;
    this.picked = null;
    this.hints = [];
  }

  static primer(rules) {
    return [h("h2", {}, rules.name), h("div", { class: "stack" }, paragraphs(rules.words))];
  }

  legend(rules) {
    return OpenGame.primer(rules);
  }

  heading() {
    return null;
  }

  words(event) {
    return event.words;
  }

  advise() {}

  get legal() {
    return this.table?.is_on ? this.table.legal : [];
  }

  keyOf(move) {
    return move.key;
  }

  press(key) {
    const move = this.legal.find((each) => this.keyOf(each) === key);
    if (move) return this.pick(move);
    if (key === "Enter" && this.picked) return this.pick(this.picked);
    if (key !== "Escape" || !this.picked) return false;
    return this.pick(null);
  }

  /** Pick a move; picking it again plays it. */
  pick(move) {
    if (move && move === this.picked) {
      this.choose(move.action);
      return true;
    }
    const { action } = move ?? this.picked;
    this.picked = move;
    this.draw();
    this.controlOf(action)?.focus();
    return true;
  }

  controlOf(action) {
    return this.place.querySelector(`[data-action="${action}"]`);
  }

  /** Draw, and keep the focus on the control of the same action or, if it is gone, on the first control. */
  redraw() {
    const focused = document.activeElement;
    const isHere = this.place.contains(focused);
    this.draw();
    if (isHere && !focused.isConnected) (this.controlOf(focused.dataset.action) ?? this.place.querySelector("button:enabled"))?.focus();
  }

  /** Show the outcome of each move with perfect play. */
  hint(moves) {
    this.hints = moves;
    this.redraw();
  }

  /** A button that picks a move or, once picked, plays it. */
  moveButton(move, words = move.name) {
    const isPicked = move === this.picked;
    const hint = this.hints.find(({ action }) => action === move.action);
    const shown = hint && h("span", { class: hint.best ? "good" : "quiet" }, ` (${outcome(hint)})`);
    const look = { class: isPicked ? "confirm" : null, "aria-pressed": String(isPicked), "data-action": move.action, onclick: () => this.pick(move) };
    return keyButton([isPicked ? `Play: ${words}` : words, shown], isPicked ? "Enter" : this.keyOf(move), look);
  }

  /** A button that takes the pick back, in a list that is empty without a pick. */
  backButton() {
    return this.picked ? [keyButton("Take back", "Esc", { onclick: () => this.pick(null) })] : [];
  }
}

/** A game with a button for each move. The board is shown as text unless a subclass overrides `drawBoard`, so this class
 * can show any game that has no renderer. */
export class ButtonGame extends OpenGame {
  static title = "A game with buttons";

  keys = [
    ["1 2 3 …", "pick a move by its number"],
    ["Enter", "play your pick"],
    ["Escape", "take it back"],
    ["h", "ask for a hint"],
  ];

  constructor(place, choose) {
    super(place, choose);
    this.board = h("div", {});
    this.said = h("div", { class: "result" });
    this.moves = h("div", { class: "controls", role: "group", "aria-label": "Your moves" });
    place.replaceChildren(this.board, this.said, this.moves);
  }

  drawBoard(place, { view }) {
    place.replaceChildren(h("pre", {}, view.words));
  }

  update(table, events) {
    this.table = table;
    this.picked = null;
    this.hints = [];
    this.drawBoard(this.board, table);
    this.said.replaceChildren(...(events.length ? latest(events, table.seat).map(({ words }) => h("span", {}, words)) : ["Pick a move."]));
    this.redraw();
  }

  draw() {
    this.moves.replaceChildren(...this.legal.map((move) => this.moveButton(move)), ...this.backButton());
  }
}
