/** TapnSwap at the table: four hands with fingers, and the moves as buttons. The first lines of punish.js say what a
 * renderer has. */

import { h, svg } from "./dom.js";
import { OpenGame, outcome } from "./open_game.js";

const WIDTH = 96;
const [UP, FOLDED] = [8, 40];

/** A hand: fingers up to the number it has, the others folded. */
function hand(fingers, limit, label) {
  const most = Math.max(limit - 1, fingers);
  const wide = WIDTH / most;
  const finger = (k) => {
    const y = k < fingers ? UP : FOLDED;
    return svg("rect", { class: k < fingers ? "finger up" : "finger", x: k * wide + 1, y, width: wide - 2, height: 70 - y, rx: Math.min(9, wide / 2 - 1) });
  };
  return h(
    "figure",
    { class: fingers ? "fingers" : "fingers dead" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} 112`, "aria-hidden": "true" },
      Array.from({ length: most }, (_, k) => finger(k)),
      svg("rect", { class: "palm", x: 0, y: 54, width: WIDTH, height: 54, rx: 18 }),
      svg("text", { x: WIDTH / 2, y: 88, "text-anchor": "middle" }, String(fingers)),
    ),
    h("figcaption", {}, `${label}: ${fingers || "dead"}`),
  );
}

export class TapnSwap extends OpenGame {
  static title = ["A duel of four hands", "Tap the other's hands until both are dead, or swap fingers between your own."];

  keys = [
    ["1 2 3 …", "pick a move by its number"],
    ["Enter", "play what you have picked"],
    ["Escape", "take it back"],
    ["h", "ask for a hint"],
  ];

  constructor(place, choose) {
    super();
    this.choose = choose;
    this.hands = h("div", { class: "four-hands" });
    this.said = h("div", { class: "result" });
    this.moves = h("div", { class: "controls", role: "group", "aria-label": "Your moves" });
    place.replaceChildren(this.hands, this.said, this.moves);
  }

  update(table, events) {
    this.table = table;
    this.picked = null;
    this.hints = [];
    const { board } = table.view;
    const row = (name, pair) => [h("h2", {}, name), h("div", { class: "pair" }, hand(pair[0], board.limit, "left"), hand(pair[1], board.limit, "right"))];
    this.hands.replaceChildren(...row(table.names[1], board.other), ...row(table.names[0], board.own));
    this.said.replaceChildren(...(events.length ? events.map(({ words }) => h("span", {}, words)) : ["Pick a move."]));
    this.drawMoves();
  }

  /** What perfect play says of each move. */
  hint(moves) {
    this.hints = moves;
    this.drawMoves();
  }

  press(key) {
    const move = this.legal.find((each) => each.key === key);
    if (move) return this.pick(move);
    if (key === "Enter" && this.picked) return this.pick(this.picked);
    if (key !== "Escape" || !this.picked) return false;
    return this.pick(null);
  }

  get legal() {
    return this.table?.is_on ? this.table.legal : [];
  }

  /** Pick a move; picking it again plays it. */
  pick(move) {
    if (move && move === this.picked) {
      this.choose(move.action);
      return true;
    }
    this.picked = move;
    this.drawMoves();
    this.moves.querySelector("[aria-pressed=true]")?.focus();
    return true;
  }

  drawMoves() {
    const button = (move) => {
      const hint = this.hints.find(({ action }) => action === move.action);
      return h(
        "button",
        { type: "button", class: move === this.picked ? "confirm" : null, "aria-pressed": String(move === this.picked), onclick: () => this.pick(move) },
        move === this.picked ? `Play: ${move.name} ` : `${move.name} `,
        hint && h("span", { class: hint.best ? "good" : "quiet" }, `(${outcome(hint)}) `),
        h("kbd", { "aria-hidden": "true" }, move === this.picked ? "Enter" : move.key),
      );
    };
    this.moves.replaceChildren(...this.legal.map(button));
  }
}
