/** Advice for a hand: what to play, and how often each card wins. */

import { get } from "./api.js";
import { actionTag, isFeint } from "./cards.js";
import { h, percent, tableHead, title } from "./dom.js";

const CARDS = "[grdspGRDSP]+";
// Minimum share of a move that is named in the first line.
const LEAST = 0.005;

/** A form that asks for a hand and opens its page. */
export function handForm(hand = "", discard = "") {
  const field = (label, value, attributes) => {
    const input = h("input", { value, pattern: CARDS, maxlength: 15, spellcheck: "false", autocapitalize: "none", autocomplete: "off", ...attributes });
    input.oninput = () => input.setCustomValidity(input.validity.patternMismatch ? "Use the initials of cards: g, r, d, s, p." : "");
    return [input, h("label", { class: "field" }, h("span", {}, label), input)];
  };
  const [cards, cardsField] = field("Your hand", hand, { required: true, placeholder: "rrspp" });
  const [pile, pileField] = field("Discard pile (if you know it)", discard, { placeholder: "any" });
  const onsubmit = (event) => {
    event.preventDefault();
    location.hash = ["#/hand", cards.value, pile.value].filter(Boolean).join("/").toLowerCase();
  };
  return h("form", { class: "seat-form", onsubmit }, cardsField, pileField, h("button", { class: "main" }, "What do I play?"));
}

export async function show(main, [hand, discard], isCurrent) {
  const place = h("div", { class: "stack" });
  main.replaceChildren(title("What do I play?", "Type a hand by the initials of its cards: guard, rush, dodge, strike, punish."), h("section", { class: "panel stack" }, handForm(hand, discard), place));
  if (!hand) return;
  place.replaceChildren(h("p", { class: "quiet" }, "Working it out …"));
  try {
    const found = await get(`/hands/${encodeURIComponent(hand)}`, { discard });
    if (isCurrent()) place.replaceChildren(...answer(found));
  } catch (error) {
    if (isCurrent()) place.replaceChildren(h("p", { class: "bad", role: "alert" }, error.message));
  }
}

function answer({ words, plays, piles, best, judge, state, model }) {
  const wins = Math.max(...plays.map(({ win_probability: win }) => win));
  const likely = plays.filter(({ probability }) => probability >= LEAST).map(({ name, probability }) => `${name} ${percent(probability, 0)}`);
  const row = ({ action, name, probability, win_probability: win }) => h("tr", { class: isFeint(action) ? "quiet" : null }, h("th", { scope: "row" }, actionTag(action, name)), h("td", { class: "number" }, percent(probability)), h("td", { class: "number" }, percent(win)));
  return [
    h("p", {}, words, state ? "" : ` Means over all ${piles} possible discard piles.`),
    h("p", { class: "reason" }, `Play ${likely.join(", ")}.`),
    h("p", {}, `Against ${judge}, who plays like this, ${best} wins most: ${percent(wins)}.`),
    h("div", { class: "wide" }, h("table", {}, tableHead(["move", "how often", "wins"], [1, 2]), h("tbody", {}, plays.map(row)))),
    state && h("p", {}, h("a", { href: `#/explore/${model}/${state}` }, "See why")),
  ].filter(Boolean);
}
