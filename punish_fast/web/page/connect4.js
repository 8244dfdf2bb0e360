/** Renderer of Connect Four: seven columns, each a button. */

import { h } from "./dom.js";
import { Squares, mark } from "./squares.js";

const COLOURS = ["red", "yellow"];
const [WIDTH, HEIGHT, CENTRE] = [7, 6, 3];

export class Connect4 extends Squares {
  static title = ["Four in a row", "Take turns dropping stones into columns. Four in a line win."];

  keys = [
    ["1 … 7", "go to a column"],
    ["← →", "go to the next column"],
    ["Enter", "drop a stone there"],
    ["h", "ask for a hint"],
  ];

  constructor(place, choose) {
    super(place, choose, { css: "four", names: COLOURS, n_buttons: WIDTH, kind: "disc" });
  }

  /** A column: its stones from the bottom in words, and its holes from the top. */
  look(column) {
    const { cells, line } = this.table.view.board;
    const squares = Array.from({ length: HEIGHT }, (_, row) => row * WIDTH + column);
    const top = squares.find((square) => cells[square]);
    const css = (square) => ["hole", line.includes(square) && "won", column === this.last && square === top && "last"].filter(Boolean).join(" ");
    const stones = squares.filter((square) => cells[square]).reverse().map((square) => COLOURS[cells[square] - 1]);
    return {
      label: `column ${column + 1}: ${stones.length ? `from the bottom ${stones.join(", ")}` : "empty"}`,
      parts: squares.map((square) => h("span", { class: css(square) }, mark(this.kind, cells[square]))),
    };
  }

  neighbour(here, key) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!step) return null;
    return here < 0 ? CENTRE : Math.min(Math.max(here + step, 0), WIDTH - 1);
  }
}
