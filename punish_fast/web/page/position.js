/** Page of a shared position, which asks what to play and answers after a move. */

import { get, judgesHere } from "./api.js";
import { h } from "./dom.js";
import { Quiz } from "./practice.js";

export async function show(main, [state], isCurrent) {
  const judges = (await judgesHere(isCurrent)).slice(0, 1);
  if (!isCurrent()) return null;
  const [{ digest }] = judges;
  const [found, { fields: rules }] = await Promise.all([get(`/models/${digest}/why/${state}`), get(`/models/${digest}/meta`)]);
  if (!isCurrent()) return null;
  // As in practice, values are from 0 for a loss to 1 for a win, whatever the judge has learned.
  const actions = found.actions.map((each) => ({ ...each, value: (each.value - found.worst) / (found.best - found.worst) }));
  const best = actions.reduce((a, b) => (b.value > a.value ? b : a)).action;
  const quiz = new Shared(main, judges, { rules, positions: [{ ...found, actions, state, best, person: "" }], title: "What do you play?", lead: "A position that somebody has shared." });
  return () => quiz.leave();
}

/** One question, which counts for nothing. */
class Shared extends Quiz {
  get heading() {
    return "Your move";
  }

  count() {
    this.reset.hidden = true;
    this.scoreLine.replaceChildren("New to the game? ", h("a", { href: "#/learn" }, "Learn in a minute"));
  }

  answered() {}

  after(links) {
    return [h("div", { class: "row" }, h("a", { class: "button main", href: "#/play" }, "Play a game"), links)];
  }
}
