/** House rules page: sliders for the cards, the balance of the changed game, and a game under these rules. */

import { addModel, get, modelsThat, post, remove } from "./api.js";
import { CARDS, changeWords, tag } from "./cards.js";
import { calm, complain, counted, h, percent, title } from "./dom.js";
import { keep, recall } from "./memory.js";
import { SEAT } from "./play.js";
import { form, lastChoice } from "./welcome.js";

// Largest number of copies and damage of a card, and time limits of the preliminary and the final balance in seconds.
const MOST = 6;
const SECONDS = [15, 60];
// HTTP status of a balance whose time was too short.
const CONFLICT = 409;
// Name of the stored numbers of the changed rules.
const STORED = "rules";

// Balances by rules and time limit.
const reports = new Map();

/** Return the five numbers of an address, or the numbers of the standard rules. */
const numbers = (text, standard) => (/^[0-6](,[0-6]){4}$/.test(text ?? "") ? text.split(",").map(Number) : [...standard]);

export async function show(main, [copies, damage], isCurrent) {
  const [model] = await modelsThat("explains", isCurrent);
  if (!isCurrent()) return;
  if (!model) throw new Error("This server has no opponent whose rules could be changed. Start it with one: punish-fast serve veteran");
  const { fields } = await get(`/models/${model.digest}/meta`);
  const [lastCopies, lastDamage] = copies ? [copies, damage] : recall(STORED, "").split("/");
  const rules = { copies: numbers(lastCopies, fields.copies), damage: numbers(lastDamage, fields.damage) };
  if (!isCurrent()) return;
  const page = new HouseRules(main, fields, rules, isCurrent);
  page.draw(Boolean(copies));
  return () => page.asking?.abort();
}

class HouseRules {
  constructor(main, standard, rules, isCurrent) {
    Object.assign(this, { standard, rules, isCurrent });
    this.total = h("p", { class: "quiet", role: "status" });
    this.sliders = h("div", { class: "sliders" });
    this.answer = h("section", { class: "panel stack", "aria-live": "polite", hidden: true });
    const reset = () => {
      Object.assign(this.rules, { copies: [...standard.copies], damage: [...standard.damage] });
      this.draw(false);
    };
    const buttons = h(
      "div",
      { class: "row" },
      (this.submit = h("button", { class: "main", "data-busy": "Computing …" }, "Is it balanced?")),
      (this.start = h("button", {}, "Play these rules")),
      h("button", { type: "button", class: "plain", onclick: reset }, "Undo all changes"),
    );
    const run = (button) => (button === this.submit ? this.ask() : this.play()).catch((error) => isCurrent() && complain(error)).then(() => this.isShort);
    main.replaceChildren(
      title("House rules", "Change how often a card exists and how much damage it deals. See whether the game stays balanced, and play it. Games under changed rules are not saved."),
      h("div", { class: "stack" }, form({ class: "panel stack" }, run, this.sliders, this.total, buttons), this.answer),
    );
  }

  draw(asks) {
    const slider = (key, kind, name, label) => {
      const value = h("output", {}, this.rules[key][kind]);
      const input = h("input", { type: "range", min: 0, max: MOST, value: this.rules[key][kind], "aria-label": `${label} of ${name}`, oninput: () => this.set(key, kind, input, value) });
      return h("span", { class: "slider" }, input, value);
    };
    this.sliders.replaceChildren(
      h("span", { class: "quiet" }, "Card"), h("span", { class: "quiet" }, "Copies"), h("span", { class: "quiet" }, "Damage"),
      ...CARDS.flatMap((name, kind) => [tag(name), slider("copies", kind, name, "Copies"), slider("damage", kind, name, "Damage")]),
    );
    this.note();
    if (asks) this.submit.click();
  }

  set(key, kind, input, value) {
    this.rules[key][kind] = Number(input.value);
    value.textContent = input.value;
    this.note();
  }

  /** Describe the changes, store them, and discard the answer to earlier rules. */
  note() {
    this.count();
    this.asking?.abort();
    this.answer.hidden = true;
    const query = this.isChanged() ? this.query() : null;
    history.replaceState(null, "", query ? `#/rules/${query}` : "#/rules");
    keep(STORED, query);
  }

  isChanged() {
    return ["copies", "damage"].some((key) => String(this.rules[key]) !== String(this.standard[key]));
  }

  count() {
    const changes = ["copies", "damage"].flatMap((key) => CARDS.map((name, kind) => [name, key, this.rules[key][kind], this.standard[key][kind]])).filter(([, , now, before]) => now !== before);
    const words = changes.map(([name, key, now, before]) => (key === "copies" ? `${counted(now, "copy", "copies")} of ${name} instead of ${before}` : `${name} deals ${now} instead of ${before}`));
    const n = this.rules.copies.reduce((sum, each) => sum + each, 0);
    const { hand_size: hand, reveal_size: revealed, feints } = this.standard;
    const needed = 2 * (hand + feints) + revealed;
    this.isShort = n < needed;
    for (const button of [this.submit, this.start]) button.disabled = this.isShort;
    const told = this.isShort ? `A game needs at least ${needed} cards.` : words.length ? "" : `Nothing is changed yet.${this.standard.changes.length ? " The balance is compared with the standard rules." : ""}`;
    this.total.textContent = [`${counted(n, "card")} in all.`, words.length ? `Changed: ${words.join(", ")}.` : "", told].filter(Boolean).join(" ");
    this.total.className = this.isShort ? "bad" : "quiet";
  }

  /** Ask for a preliminary balance and then for a better one, and show them. */
  async ask() {
    calm();
    let shown = [];
    // The request is aborted if the user changes the rules or leaves the page.
    const { signal } = (this.asking = new AbortController());
    const progress = h("progress", { max: SECONDS.reduce((sum, each) => sum + each), value: 0, "aria-label": "Progress" });
    const began = Date.now();
    const timer = setInterval(() => (progress.value = (Date.now() - began) / 1000), 500);
    const show = (...more) => this.answer.replaceChildren(...shown, ...more);
    const wait = (words) => show(h("p", { class: "quiet" }, words), progress);
    this.answer.hidden = false;
    wait("Two players learn this game. A first answer takes some seconds …");
    this.answer.scrollIntoView({ block: "center" });
    for (const seconds of SECONDS) {
      const isLast = seconds === SECONDS.at(-1);
      try {
        shown = verdict(await this.report(seconds, signal), this.isChanged() ? "Before the change" : "Under the standard rules");
        if (isLast) show();
        else wait("They learn for another minute …");
      } catch (error) {
        if (signal.aborted) break;
        if (!isLast && error.status === CONFLICT) wait("Still computing: it is too early for an answer. They learn for another minute …");
        else show(h("p", { class: "bad", role: "alert" }, error.message));
        if (error.status !== CONFLICT) break;
      }
    }
    clearInterval(timer);
  }

  /** Return the balance after at most `seconds`, or a better balance that is already known. */
  async report(seconds, signal) {
    const keys = [SECONDS.at(-1), seconds].map((each) => `${this.query()}/${each}`);
    const known = keys.map((key) => reports.get(key)).find(Boolean);
    if (!known) reports.set(keys[1], await get("/balance", { ...this.shared(), seconds }, signal));
    return known ?? reports.get(keys[1]);
  }

  shared() {
    return { copies: String(this.rules.copies), damage: String(this.rules.damage) };
  }

  query() {
    return `${this.rules.copies}/${this.rules.damage}`;
  }

  /** Begin a game under these rules, and go to the table. */
  async play() {
    calm();
    const seat = recall(SEAT, null);
    if (seat && !confirm("You are in a game. Leave it?")) return;
    const model = this.isChanged() ? await get("/house-rules", this.shared()) : (await modelsThat("judges"))[0];
    addModel(model);
    keep("opponent", { digest: model.digest, game: model.game });
    const { table } = await post("/tables", lastChoice());
    if (!this.isCurrent()) return void remove(`/tables/${table}`);
    if (seat) remove(`/tables/${seat}`).catch(() => {});
    keep(SEAT, table);
    location.hash = "#/play";
  }
}

/** The verdict in words, a bar for each limit, and the effect of the change. `before` names the rules compared. */
function verdict({ changed: { balanced }, verdict: words, limits, finding }, before) {
  return [
    h("h2", { class: balanced === false ? "bad" : balanced ? "good" : null }, { true: "Balanced", false: "Not balanced" }[balanced] ?? "Undecided"),
    ...[...limits].sort((a, b) => LOOKS.indexOf(lookOf(a)) - LOOKS.indexOf(lookOf(b))).map((each) => bar(each, before)),
    h("p", {}, words),
    finding && h("p", { class: "quiet" }, changeWords(finding)),
  ].filter(Boolean);
}

// Class and mark of a number beyond its limit, of an uncertain one, and of one within it, in the order of their bars.
const LOOKS = [["bad", "✗ "], ["quiet", "? "], ["good", "✓ "]];
const isBeyond = ({ value, is_minimum: isMinimum, limit }) => (isMinimum ? value < limit : Math.abs(value) > limit);
const lookOf = (each) => LOOKS[Math.abs(Math.abs(each.value) - each.limit) < each.uncertainty ? 1 : isBeyond(each) ? 0 : 2];

/** A number beside its limit, which is in the middle of the bar, and beside the number under the rules `before`. */
function bar(each, before) {
  const { group, name, words, base, value: changed, is_minimum: isMinimum, limit, uncertainty } = each;
  const share = (value) => `${Math.min(100, (50 * Math.abs(value)) / limit)}%`;
  const text = (value) => (group === "in_hand" ? `${(100 * value).toFixed(1)} points` : percent(value));
  const [look, mark] = lookOf(each);
  const told = [`${isMinimum ? "At least" : "At most"} ${text(limit)}.`, base !== null && `${before}, ${name}: ${text(base)}.`, uncertainty > 0 && `Still uncertain by ${text(uncertainty)}.`];
  return h(
    "div",
    { class: "limit" },
    h("p", {}, h("span", { class: look }, mark), `${words[0].toUpperCase()}${words.slice(1)}.`),
    h("span", { class: isBeyond(each) ? "bar over" : "bar", vars: { share: share(changed) } }),
    base !== null && h("span", { class: "bar second", vars: { share: share(base) } }),
    h("p", { class: "quiet small" }, told.filter(Boolean).join(" ")),
  );
}
