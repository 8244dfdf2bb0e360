/** Renderer of TapnSwap: the four hands with their raised fingers. */

import { h, svg } from "./dom.js";
import { ButtonGame } from "./open_game.js";

const WIDTH = 96;
const [UP, FOLDED] = [8, 40];

/** A hand with some fingers raised and the others folded. */
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

export class TapnSwap extends ButtonGame {
  static title = "A duel of four hands";

  drawBoard(place, { view: { board }, names }) {
    const row = (name, pair) => [h("h2", {}, name), h("div", { class: "pair" }, hand(pair[0], board.limit, "left"), hand(pair[1], board.limit, "right"))];
    place.className = "four-hands";
    place.replaceChildren(...row(names[1], board.other), ...row(names[0], board.own));
  }
}
