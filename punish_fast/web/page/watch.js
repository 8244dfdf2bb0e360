/** Page for spectators of a game between two people. It shows what both of them know. */

import { GONE, get, pause } from "./api.js";
import { player } from "./board.js";
import { back } from "./cards.js";
import { announce, calm, complain, h } from "./dom.js";
import { record } from "./play.js";
import { Punish } from "./punish.js";
import { copyButton } from "./share.js";

// Milliseconds between requests. Requests at fixed times do not reveal when a player chooses.
const PERIOD = 1500;

/** A table at which both hands are face down. */
class Watched extends Punish {
  others() {
    return h("div");
  }

  drawYou(isFresh = false) {
    const { view, rules, names, is_on: isOn } = this.table;
    this.you.className = isFresh ? "you fresh" : "you";
    const hand = h("div", { class: "backs" }, Array.from({ length: view.own.cards }, back));
    this.you.replaceChildren(player(names[0], view.own, rules, { lost: this.lost(0), isOn }), h("div", { class: "under" }, hand, `hand of ${view.own.cards}`));
  }
}

// The number of the game and the names of its players.
const keyOf = ({ number, names }) => JSON.stringify([number, names]);

export async function show(main, [name], isCurrent) {
  const look = (since) => get(`/tables/watch/${encodeURIComponent(name)}`, { since });
  let [seat, found] = [null, await look(0)];
  const follow = async () => {
    while (isCurrent()) {
      if (seat?.key !== keyOf(found)) seat = sitDown(main, found);
      seat.take(found);
      await pause(PERIOD);
      try {
        found = await look(seat.seen);
        // Another game has begun.
        if (seat.key !== keyOf(found)) found = await look(0);
        if (seat.isLost) calm();
        seat.isLost = false;
      } catch (error) {
        if (!isCurrent()) return;
        complain(error);
        if (error.status === GONE) return;
        seat.isLost = true;
      }
    }
  };
  if (isCurrent()) follow();
}

/** Draw an empty table. Return an object with a function that shows the game and its new events. */
function sitDown(main, found) {
  const { names } = found;
  const [board, log, news] = [h("div", { class: "board" }), h("div", { class: "log", tabindex: "0", role: "region", "aria-label": "Log of the duel" }), h("div", { class: "ending watched" })];
  const renderer = new Watched(board, () => {});
  let [said, ending] = [null, null];
  main.replaceChildren(
    h("h1", { class: "sr" }, `The game of ${names.join(" and ")}`),
    h("div", { class: "play" }, h("section", { class: "panel table", "aria-label": "Table" }, board, news), h("aside", { class: "stack" }, h("section", { class: "panel" }, h("h2", {}, "Log"), log))),
  );
  const take = (table) => {
    const events = table.events.filter(({ n }) => n >= seat.seen);
    if (table.view && (events.length > 0 || table.ended)) renderer.update({ ...table, seat: 0, legal: [], uncovered: null }, events);
    record(log, renderer, events);
    seat.seen = table.n_events;
    announce(events.map((event) => renderer.words(event)).filter(Boolean).join(" "));
    const { ended, is_on: isOn, kept, score, view } = table;
    const key = JSON.stringify([ended, isOn, kept, score, Boolean(view)]);
    if (key === said) return;
    said = key;
    if (!isOn) ending ??= ended ?? events.at(-1)?.words;
    news.replaceChildren(...[
      isOn && h("div", {}, view ? "You see what both players know." : "The game has not begun yet."),
      ending && h("p", {}, ending),
      score.some(Boolean) && h("div", {}, `Score: ${names[0]} ${score[0]}, ${names[1]} ${score[1]}.`),
      kept !== null && h("div", { class: "row" }, h("a", { class: "button", href: `#/review/${kept}`, target: "_blank" }, "Review this game"), copyButton(`links/games/${kept}`)),
    ].filter(Boolean));
    if (!isOn) news.scrollIntoView({ block: "nearest" });
  };
  const seat = { key: keyOf(found), seen: 0, isLost: false, take };
  return seat;
}
