/** Renderer of tic-tac-toe: each of the nine squares is a button. */

import { h } from "./dom.js";
import { Squares, mark } from "./squares.js";

const PLACES = ["top left", "top", "top right", "left", "center", "right", "bottom left", "bottom", "bottom right"];
const STONES = ["X", "O"];
const [SIDE, CENTER] = [3, 4];
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class TicTacToe extends Squares {
  static title = "Three in a row";

  keys = [
    ["1 … 9", "pick a square"],
    ["← ↑ → ↓", "go to a neighboring square; Enter picks it"],
    ["Enter", "play your pick"],
    ["Escape", "take it back"],
    ["h", "ask for a hint"],
  ];

  constructor(place, choose) {
    super(place, choose, { css: "three", names: STONES, n_buttons: PLACES.length, kind: "sign", spot: "square" });
  }

  /** Return a square's label and parts: its stone, or its number if it is empty. `own` is the stone to show if the square
   * is picked. */
  look(square, own) {
    const { cells, line } = this.table.view.board;
    const stone = cells[square];
    this.buttons[square].classList.toggle("last", square === this.last);
    this.buttons[square].classList.toggle("won", line.includes(square));
    return {
      label: `${PLACES[square]}: ${stone ? STONES[stone - 1] : "empty"}`,
      parts: [mark(this.kind, stone || own) ?? (this.table.is_on && h("kbd", { "aria-hidden": "true" }, square + 1))].filter(Boolean),
    };
  }

  neighbor(here, key) {
    if (!STEPS[key]) return null;
    if (here < 0) return CENTER;
    const [row, column] = [Math.floor(here / SIDE) + STEPS[key][0], (here % SIDE) + STEPS[key][1]];
    const isInside = [row, column].every((k) => k >= 0 && k < SIDE);
    return isInside ? row * SIDE + column : here;
  }
}
