/** Elements built by function calls, such as h("p", {class: "quiet"}, "words"). Markup is never parsed, so names of
 * players cannot inject any. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes that are null, undefined or false are omitted; attributes such as `onclick` add event
 * listeners; `vars` sets CSS custom properties, because the content security policy forbids style attributes. */
export function h(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** An SVG element, with the same arguments. */
export function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "vars") for (const [key, text] of Object.entries(value)) element.style.setProperty(`--${key}`, text);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A button and the key that presses it. */
export const keyButton = (words, key, attributes) => h("button", { type: "button", ...attributes }, words, " ", h("kbd", { "aria-hidden": "true" }, key));

/** Text for screen readers only. */
export const unseen = (text) => h("span", { class: "sr" }, text);

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById("live").replaceChildren(h("p", {}, text));
}

/** Show an error until it is dismissed or the next action begins. */
export function complain(error) {
  const place = document.getElementById("trouble");
  place.hidden = false;
  place.replaceChildren(
    h("span", {}, error.message),
    h("button", { type: "button", class: "plain", onclick: calm }, "Dismiss"),
  );
}

/** Hide the error. */
export function calm() {
  const place = document.getElementById("trouble");
  place.hidden = true;
  place.replaceChildren();
}

/** Return true on touch screens, on which keys are not mentioned. */
export const isTouch = () => matchMedia("(pointer: coarse)").matches;

/** Format a share as a percentage, such as "54.5%". */
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;

/** Format a number with its noun, such as "1 card" or "2 cards". */
export const counted = (n, noun, plural = `${noun}s`) => `${n} ${n === 1 ? noun : plural}`;

/** A player's name, which may be broken after underscores. */
export const breakable = (name) => name.split(/(?<=_)/).flatMap((part) => [h("wbr"), part]);

/** A heading with a lead-in sentence. */
export const title = (text, lead) => h("header", { class: "title" }, h("h1", {}, text), lead && h("p", {}, lead));

/** The head of a table; `numbers` are the indices of columns of numbers. */
export const tableHead = (labels, numbers) =>
  h("thead", {}, h("tr", {}, labels.map((text, k) => h("th", { scope: "col", class: numbers.includes(k) && "number" }, text))));

/** A labeled `select` element with [value, text] pairs as options. */
export function choice(label, pairs, value, onchange) {
  const select = h(
    "select",
    { onchange: () => onchange?.(select.value) },
    pairs.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return { field: h("label", { class: "field" }, h("span", {}, label), select), select };
}
