/** Drawing of a Punish position as seen by one player, for the table and other pages. */

import { CARDS, card, chips, sign } from "./cards.js";
import { counted, h, svg, unseen } from "./dom.js";

const HEART = "M12 20.5C5 15 2.5 11.8 2.5 8.3 2.5 5.5 4.6 3.5 7.2 3.5c2 0 3.7 1.1 4.8 3 1.1-1.9 2.8-3 4.8-3 2.6 0 4.7 2 4.7 4.8 0 3.5-2.5 6.7-9.5 12.2z";

/** Hit points as hearts and as a number. */
export function hearts(hp, most, lost = 0) {
  const heart = (k) => {
    const isLost = k >= hp && k < Math.max(hp, 0) + lost;
    const look = k < hp ? "full" : isLost && hp <= 0 ? "broken" : isLost ? "lost" : "empty";
    const halves = isLost && ["left", "right"].map((half) => svg("path", { class: half, d: HEART }));
    const outline = look !== "broken" && svg("path", { d: HEART });
    return svg("svg", { class: `heart ${look}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, outline, halves);
  };
  const shown = Math.max(hp, 0);
  return h(
    "span",
    { class: "hearts" },
    Array.from({ length: most }, (_, k) => heart(k)),
    h("span", { class: "hp" }, counted(shown, "heart")),
  );
}

/** A player's feints and exhaustion. */
function statuses(side, rules) {
  const left = rules.feints - side.feinted;
  return [
    rules.feints > 0 && h("span", { class: left ? "status" : "status spent" }, left ? "may feint" : "has feinted"),
    side.exhausted && h("span", { class: "status tired" }, sign("rest"), "exhausted: must rest"),
  ];
}

/** A player's row: name, hearts, number of cards, and statuses if the game is on; `lost` is the number of hearts just lost. */
export function player(name, side, rules, { lost = 0, isOn = true } = {}) {
  return h(
    "div",
    { class: "player" },
    h("h2", {}, name),
    hearts(side.hp, rules.hp, lost),
    h("span", { class: "cards-held" }, counted(side.cards, "card")),
    isOn && h("span", { class: "statuses" }, statuses(side, rules)),
  );
}

/** A pile as counts of its cards. */
export const pile = (label, counts, note) =>
  h("div", { class: "pile" }, h("h3", {}, label, note && h("span", { class: "quiet" }, ` ${note}`)), chips(counts, label));

/** A bar of `n` steps, in which step `now` (from 1) is highlighted. */
export function steps(now, n) {
  const step = (k) => h("span", { class: k < now ? "step done" : k === now ? "step now" : "step" });
  return h("span", { class: "steps", "aria-hidden": "true" }, Array.from({ length: n }, (_, k) => step(k + 1)));
}

/** The current breath and measure. */
export function clock(view) {
  const measure = view.measure ? `Measure ${view.measure}, breath` : "Breath";
  return h("div", { class: "clock" }, h("span", {}, `${measure} ${view.breath} of ${view.breaths}`), steps(view.breath, view.breaths));
}

/** Convert a hand, given as five counts, to a sorted list of kinds, such as [1, 1, 3]. */
export const kinds = (hand) => hand.flatMap((n, kind) => Array(n).fill(kind));

/** A hand without controls. */
export const openHand = (view) =>
  h(
    "div",
    { class: "hand still", role: "group", "aria-label": "Hand" },
    kinds(view.hand).map((kind) => card(CARDS[kind])),
    view.own.cards === 0 && h("span", { class: "quiet" }, "no cards"),
    unseen(`${counted(view.own.cards, "card")} in hand`),
  );

/** A whole position, without controls. */
export function position(view, rules, you = "you", enemy = "enemy") {
  return h(
    "div",
    { class: "position" },
    clock(view),
    player(enemy, view.enemy, rules),
    pile("Discard pile", view.discard),
    pile("Not seen yet", view.unseen, `(enemy's hand and deck of ${view.deck})`),
    player(you, view.own, rules),
    openHand(view),
  );
}
