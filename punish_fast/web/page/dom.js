/** Elements, built by calls: h("p", {class: "quiet"}, "words"). No markup is ever parsed, so no name can inject any. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Attributes that are null or false are omitted; `onclick` and the like are listeners; `vars` are
 * custom properties, because the content security policy forbids style attributes. */
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

/** Text for screen readers only. */
export const unseen = (text) => h("span", { class: "sr" }, text);

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById("live").replaceChildren(h("p", {}, text));
}

/** Show an error until it is dismissed or another action begins. */
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

/** Return true on touch screens, where keys are not mentioned. */
export const isTouch = () => matchMedia("(pointer: coarse)").matches;

/** A share as per cent, "54.5%"; whole numbers with `digits` 0. */
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;

/** A number and its noun: "1 card", "2 cards". */
export const counted = (n, noun, plural = `${noun}s`) => `${n} ${n === 1 ? noun : plural}`;

/** A heading with a lead-in sentence. */
export const title = (text, lead) => h("header", { class: "title" }, h("h1", {}, text), lead && h("p", {}, lead));

/** A labelled `select` of [value, text] pairs. */
export function choice(label, pairs, value, onchange) {
  const select = h(
    "select",
    { onchange: () => onchange?.(select.value) },
    pairs.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return { field: h("label", { class: "field" }, h("span", {}, label), select), select };
}
