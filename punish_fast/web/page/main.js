/** Show the page selected by the hash of the address: #/play/{table}, #/learn, #/friend/{invitation}, #/watch/{table}, #/explore/{digest}/{state},
 * #/position/{state}, #/review/{game}/{judge}/{state}, #/practice, #/puzzle, #/hand/{cards}/{discard pile}/{details}, #/rules/{copies}/{damage}, #/you/{player} or #/dashboard. */

import { calm, complain, h } from "./dom.js";
import { tune } from "./sound.js";
import { dress } from "./theme.js";
import * as dashboard from "./dashboard.js";
import * as explore from "./explore.js";
import * as friend from "./friend.js";
import * as hand from "./hand.js";
import * as learn from "./learn.js";
import * as play from "./play.js";
import * as position from "./position.js";
import * as practice from "./practice.js";
import * as puzzle from "./puzzle.js";
import * as review from "./review.js";
import * as rules from "./rules.js";
import * as watch from "./watch.js";
import * as you from "./you.js";

const PAGES = { play, learn, friend, hand, explore, review, rules, position, practice, puzzle, watch, you, dashboard };

const main = document.getElementById("main");
// Function to call when the user leaves the current page, and number of the current visit, by which late responses are
// recognized and ignored.
let leave = () => {};
let visit = 0;

/** Decode a part of the address; a malformed part stays as it is. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const key = name || "play";
  const page = Object.hasOwn(PAGES, key) ? PAGES[key] : missing;
  if (page.follow?.(rest)) return;
  if (visit) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  leave();
  leave = () => {};
  calm();
  const mine = ++visit;
  document.title = page === missing ? "Punish" : `${key[0].toUpperCase()}${key.slice(1)} · Punish`;
  for (const link of document.querySelectorAll(".pages a")) {
    if (link.hash === `#/${key}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(h("p", { class: "quiet loading" }, "Loading …"));
  main.className = `page-${key}`;
  main.setAttribute("aria-busy", "true");
  try {
    const left = await page.show(main, rest, () => mine === visit);
    if (mine === visit) leave = left ?? leave;
    else left?.();
  } catch (error) {
    if (mine === visit) main.replaceChildren(failure(error));
  }
  if (mine === visit) main.removeAttribute("aria-busy");
}

/** Page for unknown addresses. */
const missing = {
  show: (place) =>
    place.replaceChildren(h("section", { class: "panel stack" }, h("h1", {}, "There is no such page"), h("p", {}, h("a", { href: "#/play" }, "Go to the start page")))),
};

/** Message shown instead of a page that could not be loaded. */
const failure = ({ message }) =>
  h(
    "section",
    { class: "panel stack", role: "alert" },
    h("h1", {}, "This page could not be loaded"),
    h("p", { class: "bad" }, message),
    h("div", { class: "row" }, h("button", { type: "button", class: "main", onclick: route }, "Try again"), h("a", { class: "button", href: "#/play" }, "Go to the start page")),
  );

addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  complain(event.reason);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", route);
tune(document.getElementById("sound"));
dress(document.getElementById("theme"));
route();
