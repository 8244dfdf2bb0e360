/** Renderer of Connect Four: each of the seven columns is a button. */

import { h } from "./dom.js";
import { Squares, mark } from "./squares.js";

const COLORS = ["red", "yellow"];
const [WIDTH, HEIGHT, CENTER] = [7, 6, 3];

export class Connect4 extends Squares {
  static title = "Four in a row";

  keys = [
    ["1 … 7", "pick a column"],
    ["← →", "go to the next column; Enter picks it"],
    ["Enter", "play your pick"],
    ["Escape", "take it back"],
    ["h", "ask for a hint"],
  ];

  constructor(place, choose) {
    super(place, choose, { css: "four", names: COLORS, n_buttons: WIDTH, kind: "disc", spot: "column" });
  }

  /** Return a column's label, which lists its stones from the bottom, and its parts: the number, then the holes from the
   * top. `own` is the stone to show in the picked column. */
  look(column, own) {
    const { cells, line } = this.table.view.board;
    const squares = Array.from({ length: HEIGHT }, (_, row) => row * WIDTH + column);
    const top = squares.find((square) => cells[square]);
    const landing = own && squares.findLast((square) => !cells[square]);
    const css = (square) => ["hole", line.includes(square) && "won", column === this.last && square === top && "last", square === landing && "ghost"].filter(Boolean).join(" ");
    const stones = squares.filter((square) => cells[square]).reverse().map((square) => COLORS[cells[square] - 1]);
    return {
      label: `column ${column + 1}: ${stones.length ? `from the bottom ${stones.join(", ")}` : "empty"}`,
      parts: [h("kbd", { "aria-hidden": "true" }, column + 1), squares.map((square) => h("span", { class: css(square) }, mark(this.kind, square === landing ? own : cells[square])))].flat(),
    };
  }

  neighbor(here, key) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!step) return null;
    return here < 0 ? CENTER : Math.min(Math.max(here + step, 0), WIDTH - 1);
  }
}
