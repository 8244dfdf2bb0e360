/** Renderer of Incan Gold: the path of cards, the treasure left on the path, the players, and two buttons. */

import { steps } from "./board.js";
import { CardGame } from "./card_game.js";
import { drawing } from "./cards.js";
import { counted, h } from "./dom.js";

// Line drawings as SVG paths in a square of side 24.
const SIGNS = {
  fire: ["M12 3c1 4 5 5.5 5 10.5a5 5 0 0 1-10 0c0-2.5 1.2-4 2.5-5 .2 1.6.8 2.6 1.8 3C11 9 10.6 6 12 3z"],
  mummy: ["M7 8a5 5 0 0 1 10 0v8a5 5 0 0 1-10 0z", "M7 7.5h10M7 15h10M8 18.5l8-1.5", "M9.8 11h.1M14.1 11h.1"],
  rocks: ["M3.5 19l3-6 4 1.5 2.5 4.5z", "M11 12l2.5-5.5 5 1.5 2 7-2.5 4", "M8 9l2-3.5 2.5 1"],
  snakes: ["M5 19.5c8 1.5 9-3.5 5-5s-3.5-6.5 2-6.5 5-4.5 1.5-4.5", "M13.5 3.5l3-.5M13.5 3.5l2.5 2"],
  spiders: ["M12 9.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4z", "M12 17.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8z", "M8.5 11.5L4 8.5M8 13.5H3.5M8.5 15.5L5 19.5M15.5 11.5L20 8.5M16 13.5h4.5M15.5 15.5l3.5 4"],
  artifact: ["M12 3.5l2.6 5.3 5.9.9-4.2 4.1 1 5.8L12 16.9l-5.3 2.7 1-5.8L3.5 9.7l5.9-.9z"],
  treasure: ["M8 4.5h8l4 5-8 10-8-10z", "M4 9.5h16M8 4.5l4 5 4-5M12 9.5v10"],
};

const isNumber = (card) => /^\d+$/.test(card);

const sign = (name) => drawing(SIGNS[name], 1.7);

/** A card on the path: a treasure with its value, a hazard or an artifact. */
function card(name) {
  const kind = isNumber(name) ? "treasure" : name === "artifact" ? "artifact" : "hazard";
  return h(
    "li",
    { class: `temple-card ${kind}` },
    sign(kind === "treasure" ? "treasure" : name),
    h("span", { class: "name" }, kind === "treasure" ? [h("span", { class: "sr" }, "treasure "), name] : name),
  );
}

export class IncanGold extends CardGame {
  static title = "Leave the temple in time";

  keys = [
    ["l s", "pick leave or stay"],
    ["Enter", "confirm your pick"],
    ["Escape", "take it back"],
  ];

  constructor(place, choose) {
    super(place, choose);
    this.clock = h("div", { class: "clock" });
    this.path = h("ol", { class: "path" });
    this.left = h("div", { class: "temple-left" });
    this.players = h("ul", { class: "explorers" });
    place.replaceChildren(this.clock, h("section", { class: "temple", "aria-label": "The temple" }, this.path, this.left), this.said, this.players, this.moves);
  }

  keyOf(move) {
    return move.name[0];
  }

  /** The cards drawn in this round, in order. */
  get drawn() {
    const since = this.events.findLastIndex(({ kind }) => kind === "round");
    const cards = this.events.slice(Math.max(since, 0)).filter(({ kind }) => kind === "card");
    return cards.map(({ about }) => about);
  }

  draw() {
    const { view, names } = this.table;
    const { board } = view;
    this.clock.replaceChildren(h("span", {}, `Round ${board.round} of 5`), steps(board.round, 5));
    this.path.replaceChildren(...this.drawn.map(card));
    const artifacts = board.artifacts.length ? board.artifacts.map((worth) => `an artifact worth ${worth}`).join(", ") : "no artifacts";
    this.left.replaceChildren(h("span", {}, "Left on the board: ", h("strong", {}, counted(board.treasure, "point")), `, ${artifacts}`));
    this.players.replaceChildren(...names.map((name, place) => this.player(name, this.seatAt(place))));
    const words = { leave: `Leave with ${board.held[board.own - 1]}`, stay: "Stay" };
    this.moves.replaceChildren(...this.legal.map((move) => this.moveButton(move, words[move.name])), ...this.backButton());
  }

  player(name, seat) {
    const { board } = this.table.view;
    const isInside = board.inside[seat];
    return h(
      "li",
      { class: isInside ? "explorer" : "explorer away" },
      h("h2", {}, name),
      h("span", { class: "status" }, isInside ? "inside" : "outside"),
      h("dl", {}, h("div", {}, h("dt", {}, "this round"), h("dd", {}, isInside ? board.held[seat] : "–")), h("div", {}, h("dt", {}, "safe"), h("dd", {}, board.totals[seat]))),
    );
  }
}
