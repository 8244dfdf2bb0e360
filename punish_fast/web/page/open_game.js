/** Shared by games that are not kept: rules, words of the log, and no coach but hints. */

import { h } from "./dom.js";

/** The outcome of a move: "draw", "win in 3"; "win" or "?" if a search was cut short. */
export const outcome = ({ outcome: found, plies }) => (plies === null ? found ?? "?" : `${found} in ${plies}`);

const paragraphs = (words) => words.split("\n").map((line) => h("p", {}, line));

export class OpenGame {
  /** Whether players move in turn, and one of them is chosen to begin. */
  static isInTurn = true;

  static primer(rules) {
    return [h("h2", {}, rules.name), h("div", { class: "stack" }, paragraphs(rules.words))];
  }

  legend(rules) {
    return OpenGame.primer(rules);
  }

  heading() {
    return null;
  }

  words(event) {
    return event.words;
  }

  advise() {}
}
