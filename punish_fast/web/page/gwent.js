/** Renderer of Gwent Lite: round totals, rounds won, your hand as buttons, and your opponent's hand face down. */

import { CardGame } from "./card_game.js";
import { back } from "./cards.js";
import { counted, h, keyButton } from "./dom.js";

const PASS = "pass";
const ROUNDS_TO_WIN = 2;

export class Gwent extends CardGame {
  static title = "The best of three rounds";

  keys = [
    ["1 … 9 0", "pick a card by its position in your hand"],
    ["← →", "pick the next card"],
    ["p", "pass"],
    ["Enter", "play your pick"],
    ["Escape", "take it back"],
  ];

  constructor(place, choose) {
    super(place, choose);
    this.clock = h("div", { class: "clock" });
    this.sides = h("div", { class: "gwent-sides" });
    this.unplayed = h("details", { class: "unplayed" }, h("summary"), h("p", { class: "small" }));
    this.hand = h("div", { class: "gwent-hand", role: "group", "aria-label": "Your hand" });
    place.replaceChildren(this.clock, this.sides, this.said, this.hand, this.moves, this.unplayed);
  }

  /** Action 0 is a pass; other actions are the positions of cards in the hand, from 1. */
  keyOf({ action, name }) {
    return name === PASS ? "p" : String(action % 10);
  }

  press(key) {
    const cards = this.legal.filter(({ name }) => name !== PASS);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!step || !cards.length) return super.press(key);
    const here = cards.indexOf(this.picked);
    return this.pick(cards[here < 0 ? 0 : Math.min(Math.max(here + step, 0), cards.length - 1)]);
  }

  draw() {
    const { view, names } = this.table;
    const { board } = view;
    this.clock.replaceChildren(h("span", {}, `Round ${board.round} of at most 3`));
    this.sides.replaceChildren(this.side(names[1], this.seatAt(1)), this.side(names[0], this.seatAt(0)));
    const unplayed = board.unplayed[this.seatAt(1)];
    this.unplayed.firstChild.replaceChildren(`Cards that ${names[1]} still has`);
    this.unplayed.lastChild.replaceChildren(`${unplayed.join(" ") || "Nothing"}: in hand or still to draw.`);
    this.hand.replaceChildren(...this.cards(board));
    const pass = this.legal.find(({ name }) => name === PASS);
    const played = this.picked && this.picked !== pass && this.picked;
    this.moves.replaceChildren(
      ...(played ? [keyButton(`Play: ${this.value(played)}`, "Enter", { class: "main confirm", onclick: () => this.pick(played) })] : []),
      ...(pass ? [this.moveButton(pass, this.picked === pass ? "pass for this round" : "Pass")] : []),
      ...this.backButton(),
    );
  }

  value({ action }) {
    return this.table.view.board.hand[action - 1];
  }

  cards({ hand }) {
    if (!hand.length) return [h("p", { class: "quiet" }, "No cards in your hand.")];
    return hand.map((value, k) => {
      const move = this.legal.find(({ action }) => action === k + 1);
      const isPicked = Boolean(move) && move === this.picked;
      return h(
        "button",
        { type: "button", class: "gwent-card", "data-action": k + 1, "aria-pressed": String(isPicked), "aria-label": `Card ${value}`, disabled: !move, onclick: () => this.pick(move) },
        h("span", { class: "value" }, value),
        move && h("kbd", { "aria-hidden": "true" }, this.keyOf(move)),
      );
    });
  }

  side(name, seat) {
    const { board } = this.table.view;
    const isOwn = seat === board.own - 1;
    const won = Array.from({ length: ROUNDS_TO_WIN }, (_, k) => h("span", { class: k < board.wins[seat] ? "gem won" : "gem" }));
    const other = board.totals[1 - seat];
    const cards = this.table.uncovered?.hand.map((value) => h("div", { class: "card" }, value)) ?? Array.from({ length: board.n_cards[seat] }, back);
    const status = board.out[seat] ? "out for this round" : this.table.is_on && this.table.view.to_move === seat ? "to move" : "in";
    return h(
      "section",
      { class: "gwent-side", "aria-label": name },
      h("div", { class: "player" }, h("h2", {}, name), h("span", { class: "gems" }, won, h("span", {}, `${counted(board.wins[seat], "round")} won`)), h("span", { class: board.out[seat] ? "status spent" : "status" }, status)),
      h("div", { class: "held" }, !isOwn && h("div", { class: "backs" }, cards), h("span", { class: "quiet small" }, `${counted(board.n_cards[seat], "card")} in hand, ${board.n_pile[seat]} to draw`)),
      h("strong", { class: board.totals[seat] > other ? "total ahead" : "total" }, h("span", { class: "sr" }, "total "), board.totals[seat]),
    );
  }
}
