/** Base class of card games with hidden information: log sections for rounds, the latest events, and moves as buttons. */

import { h } from "./dom.js";
import { OpenGame, latest } from "./open_game.js";

// Maximum number of events shown on the board; a player who has left the temple sees many, and the log contains all.
const MOST_LINES = 10;

export class CardGame extends OpenGame {
  static isInTurn = false;

  constructor(place, choose) {
    super(place, choose);
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
    const lines = latest(events, table.seat).slice(-MOST_LINES).map(({ kind, words }) => h("span", { class: kind === "move" ? "quiet" : null }, words));
    this.said.replaceChildren(...lines);
    this.redraw();
  }

  /** Return the seat of the player shown at a position: you are at position 0, followed by the other players in order. */
  seatAt(place) {
    return (this.table.view.board.own - 1 + place) % this.table.names.length;
  }
}
