/** Base of card games with hidden information: a log by rounds, the latest events, and moves as buttons. */

import { h } from "./dom.js";
import { OpenGame } from "./open_game.js";

export class CardGame extends OpenGame {
  static isInTurn = false;

  constructor(choose) {
    super();
    this.choose = choose;
    this.picked = null;
    this.events = [];
    this.said = h("div", { class: "result said" });
    this.moves = h("div", { class: "controls", role: "group", "aria-label": "Your moves" });
  }

  heading(event) {
    return event.kind === "round" ? `Round ${event.about}` : null;
  }

  update(table, events) {
    this.table = table;
    this.picked = null;
    this.events.push(...events);
    const lines = events.filter(({ kind }) => kind !== "end").map(({ kind, words }) => h("span", { class: kind === "move" ? "quiet" : null }, words));
    this.said.replaceChildren(...lines);
    this.draw();
  }

  hint() {}

  get legal() {
    return this.table?.is_on ? this.table.legal : [];
  }

  /** Seat of the player shown at a place: you are at place 0, followed by the other seats in order. */
  seatAt(place) {
    return (this.table.view.board.own - 1 + place) % this.table.names.length;
  }

  press(key) {
    const move = this.legal.find((each) => this.keyOf(each) === key);
    if (move) return this.pick(move);
    if (key === "Enter" && this.picked) return this.pick(this.picked);
    if (key !== "Escape" || !this.picked) return false;
    return this.pick(null);
  }

  keyOf(move) {
    return move.key;
  }

  /** Pick a move; picking it again plays it. */
  pick(move) {
    if (move && move === this.picked) {
      this.choose(move.action);
      return true;
    }
    this.picked = move;
    this.draw();
    this.pressed()?.focus();
    return true;
  }

  pressed() {
    return this.moves.querySelector("[aria-pressed=true]");
  }

  /** A move as a button. */
  button(move, words) {
    const isPicked = move === this.picked;
    return h(
      "button",
      { type: "button", class: isPicked ? "confirm" : null, "aria-pressed": String(isPicked), onclick: () => this.pick(move) },
      isPicked ? `Confirm: ${words} ` : `${words} `,
      h("kbd", { "aria-hidden": "true" }, isPicked ? "Enter" : this.keyOf(move)),
    );
  }
}
