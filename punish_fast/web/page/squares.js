/** Base class of boards with squares: buttons, stones, the last move, winning lines, and hints. Subclasses define the
 * stones, names and neighbors of the buttons. */

import { h, isTouch, svg } from "./dom.js";
import { OpenGame, latest, outcome } from "./open_game.js";

/** The stone of player 1 or 2; nothing for 0. */
export function mark(kind, stone) {
  if (!stone) return null;
  const shapes = {
    sign1: () => [svg("path", { d: "M22 22 78 78 M78 22 22 78" })],
    sign2: () => [svg("circle", { cx: 50, cy: 50, r: 30 })],
    disc1: () => [svg("circle", { cx: 50, cy: 50, r: 46 })],
    // A ring distinguishes the stones for people who cannot see their colors.
    disc2: () => [svg("circle", { cx: 50, cy: 50, r: 46 }), svg("circle", { class: "ring", cx: 50, cy: 50, r: 24 })],
  };
  return svg("svg", { class: `stone ${kind}${stone}`, viewBox: "0 0 100 100", "aria-hidden": "true" }, shapes[`${kind}${stone}`]());
}

export class Squares extends OpenGame {
  /** `names` are the names of the two players' stones, `spot` is the noun for a button ("square" or "column"), and `css`
   * is the CSS class of the board. */
  constructor(place, choose, { css, names, n_buttons: n, kind, spot }) {
    super(place, choose);
    this.names = names;
    this.kind = kind;
    this.prompt = isTouch() ? `Tap a ${spot}.` : `Pick a ${spot}: click it, or type its number.`;
    this.side = h("p", { class: "stones-of" });
    this.said = h("div", { class: "result" });
    this.moves = h("div", { class: "controls", role: "group", "aria-label": "Your move" });
    this.buttons = Array.from({ length: n }, (_, action) => h("button", { type: "button", class: "spot", "data-action": action, onclick: () => this.click(action) }));
    place.replaceChildren(this.side, h("div", { class: `squares ${css}`, role: "group", "aria-label": "Board" }, this.buttons), this.said, this.moves);
  }

  update(table, events) {
    this.table = table;
    this.picked = null;
    this.hints = [];
    const { board } = table.view;
    const [own, other] = [this.names[board.own - 1], this.names[2 - board.own]];
    this.side.replaceChildren(
      h("span", {}, mark(this.kind, board.own), `${table.names[0]}: ${own}`),
      h("span", {}, mark(this.kind, 3 - board.own), `${table.names[1]}: ${other}`),
    );
    this.said.replaceChildren(...(events.length ? latest(events, table.seat).map(({ words }) => h("span", {}, words)) : ["Your turn."]));
    this.last = events.findLast(({ kind }) => kind === "move")?.action ?? null;
    this.redraw();
  }

  click(action) {
    const move = this.legal.find((each) => each.action === action);
    if (move) this.pick(move);
  }

  draw() {
    const actions = new Set(this.legal.map(({ action }) => action));
    this.buttons.forEach((button, action) => {
      const hint = this.hints.find((move) => move.action === action);
      const isPicked = action === this.picked?.action;
      const { label, parts } = this.look(action, isPicked && this.table.view.board.own);
      button.setAttribute("aria-pressed", String(isPicked));
      button.setAttribute("aria-label", [label, hint && outcome(hint), hint?.best && "best"].filter(Boolean).join(", "));
      // Disabled squares can be focused, so that people can explore the board with the keyboard.
      button.setAttribute("aria-disabled", String(!actions.has(action)));
      button.classList.toggle("best", Boolean(hint?.best));
      button.replaceChildren(...parts, ...(hint ? [h("span", { class: `outcome ${hint.outcome}`, "aria-hidden": "true" }, outcome(hint))] : []));
    });
    const prompt = h("p", { class: "words", hidden: !actions.size }, this.prompt);
    this.moves.replaceChildren(this.picked ? this.moveButton(this.picked) : prompt, ...this.backButton());
  }

  /** Move the focus with arrow keys; Enter picks the focused square, and a second Enter plays it. */
  press(key) {
    const there = this.neighbor(this.buttons.indexOf(document.activeElement), key);
    if (there === null) return super.press(key);
    this.buttons[there].focus();
    return true;
  }
}
