/** Appearance of the cards: signs and names; cards.css adds colors and patterns. */

import { counted, h, svg, unseen } from "./dom.js";

export const CARDS = ["guard", "rush", "dodge", "strike", "punish"];
export const REST = 90;

// Line drawings as SVG paths in a square of side 24.
const SIGNS = {
  guard: ["M12 3.2 19.5 6v5.6c0 4.7-3 7.6-7.5 9.2-4.5-1.6-7.5-4.5-7.5-9.2V6z", "M12 7.5v9M8.2 11.5h7.6"],
  rush: ["M3.5 6.5 9 12l-5.5 5.5", "M9.5 6.5 15 12l-5.5 5.5", "M15.5 6.5 21 12l-5.5 5.5"],
  dodge: ["M4 20c0-7 3-11.5 9-11.5h6", "m15.2 4.5 4.3 4-4.3 4", "M10.5 20c0-3 1-4.8 3.2-5.5"],
  strike: ["m20.5 3.5-.8 4.2-9.2 9.3-3.5-3.5 9.3-9.2z", "m5 11.5 7.5 7.5", "m8.5 15.5-5 5"],
  punish: ["M13.5 2.5 5 13.8h6L9.5 21.5 19 9.8h-6.2z"],
  rest: ["M17 14.5A7.5 7.5 0 0 1 9.5 7c0-1.2.3-2.4.8-3.4a8.5 8.5 0 1 0 10.1 10.1c-1 .5-2.2.8-3.4.8z"],
};

/** A line drawing of paths in a square of side 24. */
export function drawing(paths, width) {
  const look = { fill: "none", stroke: "currentColor", "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round" };
  return svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true", ...look }, paths.map((d) => svg("path", { d })));
}

/** The sign of a card, or of a rest. */
export const sign = (name) => drawing(SIGNS[name], 1.9);

const face = (name, damage) => [sign(name), h("span", { class: "name" }, name), h("span", { class: "deals" }, damage ? `deals ${damage}` : "")];

/** A card face up. */
export const card = (name, damage) => h("div", { class: "card", "data-card": name }, face(name, damage));

/** A small card face up, which shows only its sign. */
export const smallCard = (name) => h("div", { class: "card small-card", "data-card": name, title: name }, sign(name), unseen(name));

/** A card face up as a button with `attributes`. */
export function cardButton(name, damage, attributes, ...more) {
  return h(
    "button",
    { type: "button", class: "card", "data-card": name, ...attributes },
    h("span", { class: "key", "aria-hidden": "true" }, name[0]),
    face(name, damage),
    more,
  );
}

/** A card face down. */
export const back = () => h("div", { class: "card back", "aria-hidden": "true" });

/** A card that represents resting. */
export const restCard = () => h("div", { class: "card rest" }, sign("rest"), h("span", { class: "name" }, "rest"));

/** An empty space for a card that has not been played. */
export const noCard = () => h("div", { class: "card none", "aria-hidden": "true" });

/** Counts of the five kinds of cards. */
export function chips(counts, label) {
  return h(
    "ul",
    { class: "chips", "aria-label": label },
    CARDS.map((name, kind) =>
      h(
        "li",
        { class: counts[kind] ? "chip" : "chip nothing", "data-card": name, title: `${counts[kind]} ${name}` },
        sign(name),
        h("span", { "aria-hidden": "true" }, counts[kind] || "–"),
        h("span", { class: "sr" }, `${counts[kind]} ${name}`),
      ),
    ),
  );
}

/** The sign and name of a card, for use in a text. */
export function tag(name, text = name) {
  return h("span", { class: "tag" }, h("span", { class: "spot", "data-card": name }, sign(name)), text);
}

/** Return the name of the card that an action plays or, for a feint, throws away; "rest" for resting. */
export const cardOf = (action) => (action === REST ? "rest" : CARDS[Math.floor(action / 10) - 1]);
export const isFeint = (action) => action % 10 === 1;

/** The sign and name of an action, for use in a text. */
export const actionTag = (action, name) => tag(cardOf(action), name);

/** Return a text with changes of the rules in words, such as "a strike dealing 3" for "damage.strike=3". */
export const changeWords = (text) => text.replace(/([a-z_]+)(?:\.([a-z]+))?=(\d*)/g, (_, field, name, n) => {
  if (field === "damage" && name) return `a ${name} dealing ${n}`;
  if (field === "copies" && name) return `${counted(Number(n), "copy", "copies")} of ${name}`;
  return field === "hp" ? counted(Number(n), "heart") : `${[field, name].filter(Boolean).join(" ").replaceAll("_", " ")} ${n}`;
});
