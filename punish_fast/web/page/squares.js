/** Base of boards of squares: buttons, stones, the last move, lines, and hints. Subclasses define the buttons' stones,
 * names and neighbours. */

import { h, svg } from "./dom.js";
import { OpenGame, outcome } from "./open_game.js";

/** A stone by the number of its player, 1 or 2; nothing for 0. */
export function mark(kind, stone) {
  if (!stone) return null;
  const shapes = {
    sign1: () => [svg("path", { d: "M22 22 78 78 M78 22 22 78" })],
    sign2: () => [svg("circle", { cx: 50, cy: 50, r: 30 })],
    disc1: () => [svg("circle", { cx: 50, cy: 50, r: 46 })],
    // A ring distinguishes the stones for people who cannot see their colours.
    disc2: () => [svg("circle", { cx: 50, cy: 50, r: 46 }), svg("circle", { class: "ring", cx: 50, cy: 50, r: 24 })],
  };
  return svg("svg", { class: `stone ${kind}${stone}`, viewBox: "0 0 100 100", "aria-hidden": "true" }, shapes[`${kind}${stone}`]());
}

export class Squares extends OpenGame {
  /** `names` are the names of the two players' stones; `css` is the class of the board. */
  constructor(place, choose, { css, names, n_buttons: n, kind }) {
    super();
    this.choose = choose;
    this.names = names;
    this.kind = kind;
    this.hints = [];
    this.side = h("p", { class: "stones-of" });
    this.said = h("div", { class: "result" });
    this.buttons = Array.from({ length: n }, (_, action) => h("button", { type: "button", class: "spot", onclick: () => this.play(action) }));
    place.replaceChildren(this.side, h("div", { class: `squares ${css}`, role: "group", "aria-label": "Board" }, this.buttons), this.said);
  }

  update(table, events) {
    this.table = table;
    this.hints = [];
    const { board } = table.view;
    const [own, other] = [this.names[board.own - 1], this.names[2 - board.own]];
    this.side.replaceChildren(
      h("span", {}, mark(this.kind, board.own), `${table.names[0]}: ${own}`),
      h("span", {}, mark(this.kind, 3 - board.own), `${table.names[1]}: ${other}`),
    );
    this.said.replaceChildren(...(events.length ? events.map(({ words }) => h("span", {}, words)) : ["Your turn."]));
    this.last = events.findLast(({ kind }) => kind === "move")?.action ?? null;
    this.draw();
  }

  /** Show the outcome of each move with perfect play. */
  hint(moves) {
    this.hints = moves;
    this.draw();
  }

  get legal() {
    return this.table?.is_on ? this.table.legal : [];
  }

  play(action) {
    if (this.legal.some((move) => move.action === action)) this.choose(action);
  }

  draw() {
    const actions = new Set(this.legal.map(({ action }) => action));
    this.buttons.forEach((button, action) => {
      const hint = this.hints.find((move) => move.action === action);
      const { label, parts } = this.look(action);
      button.setAttribute("aria-label", [label, hint && outcome(hint), hint?.best && "best"].filter(Boolean).join(", "));
      // A disabled square can still be focused, so that people can look around.
      button.setAttribute("aria-disabled", String(!actions.has(action)));
      button.classList.toggle("best", Boolean(hint?.best));
      button.replaceChildren(...parts, ...(hint ? [h("span", { class: `outcome ${hint.outcome}`, "aria-hidden": "true" }, outcome(hint))] : []));
    });
  }

  /** Move the focus with arrows and digits; Enter activates the focused button. */
  press(key) {
    const here = this.buttons.indexOf(document.activeElement);
    const there = /^[1-9]$/.test(key) ? Number(key) - 1 : this.neighbour(here, key);
    if (there === null || !this.buttons[there]) return false;
    this.buttons[there].focus();
    return true;
  }
}
