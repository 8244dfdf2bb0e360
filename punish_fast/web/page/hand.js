/** Advice for a hand: what to play, and how often each card wins. */

import { get } from "./api.js";
import { actionTag, isFeint } from "./cards.js";
import { choice, h, percent, tableHead, title } from "./dom.js";
import { copyButton } from "./share.js";

const CARDS = "[grdspGRDSP]+";
// Minimum share of a move that is named in the first line.
const LEAST = 0.005;
const SIDES = [["", "nobody"], ["own", "you"], ["enemy", "the enemy"], ["both", "both"]];

/** A form that asks for a hand and opens its page. `details` are the details of a later position, by their names in the
 * address. */
export function handForm(hand = "", discard = "", details = {}) {
  const field = (label, value, pattern, advice, attributes) => {
    const input = h("input", { value, pattern, spellcheck: "false", autocapitalize: "none", autocomplete: "off", ...attributes });
    input.oninput = () => input.setCustomValidity(input.validity.patternMismatch ? advice : "");
    return [input, h("label", { class: "field" }, h("span", {}, label), input)];
  };
  const letters = "Use the initials of cards: g, r, d, s, p.";
  const [cards, cardsField] = field("Your hand", hand, CARDS, letters, { required: true, placeholder: "rrspp", maxlength: 15 });
  const [pile, pileField] = field("Discard pile (if you know it)", discard, CARDS, letters, { placeholder: "any", maxlength: 15 });
  const [hearts, heartsField] = field("Hearts, yours and the enemy's", details.hp ?? "", "[1-9]\\D+[1-9]", "Use two numbers, such as 3-2.", { placeholder: "3-2", maxlength: 7 });
  const rests = choice("Must rest", SIDES, details.exhausted ?? "");
  const feints = choice("Has feinted", SIDES, details.feinted ?? "");
  const onsubmit = (event) => {
    event.preventDefault();
    const given = Object.entries({ ...details, hp: hearts.value.replace(/\D+/, "-"), exhausted: rests.select.value, feinted: feints.select.value }).filter(([, value]) => value);
    const parts = [cards.value.toLowerCase(), pile.value.toLowerCase(), new URLSearchParams(given).toString()];
    const hash = `#/hand/${parts.join("/").replace(/\/+$/, "")}`;
    // Setting the same hash again would not open the page.
    if (location.hash === hash) dispatchEvent(new Event("hashchange"));
    else location.hash = hash;
  };
  const later = h("details", { open: Object.keys(details).length > 0 }, h("summary", {}, "Hearts, rests and feints"), h("div", { class: "fields" }, heartsField, rests.field, feints.field));
  // A browser cannot focus a field in closed details.
  later.addEventListener("invalid", () => (later.open = true), true);
  return h("form", { class: "stack hand-form", onsubmit }, h("div", { class: "seat-form" }, cardsField, pileField, h("button", { class: "main" }, "What do I play?")), later);
}

export async function show(main, [hand, discard, more], isCurrent) {
  const place = h("div", { class: "stack" });
  const details = Object.fromEntries(new URLSearchParams(more));
  const form = handForm(hand, discard, details);
  // The last answer must not stay beside a hand that the form refuses.
  form.addEventListener("invalid", () => place.replaceChildren(), true);
  main.replaceChildren(title("What do I play?", "Type a hand by the initials of its cards: guard, rush, dodge, strike, punish."), h("section", { class: "panel stack" }, place, form));
  if (!hand) return;
  place.replaceChildren(h("p", { class: "quiet" }, "Working it out …"));
  try {
    const found = await get(`/hands/${encodeURIComponent(hand)}`, { ...details, discard });
    if (isCurrent()) place.replaceChildren(...answer(found));
  } catch (error) {
    if (isCurrent()) place.replaceChildren(h("p", { class: "bad", role: "alert" }, error.message));
  }
}

function answer({ words, plays, piles, verdict, is_known: isKnown, judge, state, model }) {
  const likely = plays.filter(({ probability }) => probability >= LEAST).map(({ name, probability }) => `${name} ${percent(probability, 0)}`);
  const row = ({ action, name, probability, win_probability: win }) => h("tr", { class: isFeint(action) ? "quiet" : null }, h("th", { scope: "row" }, actionTag(action, name)), h("td", { class: "number" }, percent(probability)), h("td", { class: "number" }, percent(win)));
  return [
    h("p", {}, words, state ? " The answer is for this discard pile." : ` Means over all ${piles} possible discard piles.`),
    h("p", { class: "reason" }, isKnown ? `Play ${likely.join(", ")}.` : `${judge} does not know this position.`),
    h("p", {}, `Against ${judge}, ${isKnown ? "who plays like this, " : ""}${verdict}`),
    h("div", { class: "wide" }, h("table", {}, tableHead(["move", "how often", "wins"], [1, 2]), h("tbody", {}, plays.map(row)))),
    state && h("div", { class: "row" }, h("a", { href: `#/explore/${model}/${state}` }, "See why"), copyButton(`links/positions/${state}`)),
  ].filter(Boolean);
}
