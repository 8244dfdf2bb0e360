/** House rules page: sliders for the cards, the balance of the changed game, and a game under these rules. */

import { addModel, get, modelsThat, post, remove } from "./api.js";
import { CARDS, tag } from "./cards.js";
import { calm, complain, counted, h, percent, title } from "./dom.js";
import { keep, recall } from "./memory.js";
import { SEAT } from "./play.js";
import { form, lastChoice } from "./welcome.js";

// Largest number of copies and damage of a card, and time limits of the preliminary and the final balance in seconds.
const MOST = 6;
const SECONDS = [15, 60];
// HTTP status of a balance whose time was too short.
const CONFLICT = 409;

/** Return the five numbers of an address, or the numbers of the standard rules. */
const numbers = (text, standard) => (/^[0-6](,[0-6]){4}$/.test(text ?? "") ? text.split(",").map(Number) : [...standard]);

export async function show(main, [copies, damage], isCurrent) {
  const [model] = await modelsThat("explains", isCurrent);
  if (!isCurrent()) return;
  if (!model) throw new Error("This server has no opponent whose rules could be changed. Start it with one: punish-fast serve veteran");
  const { fields } = await get(`/models/${model.digest}/meta`);
  const rules = { copies: numbers(copies, fields.copies), damage: numbers(damage, fields.damage) };
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
      (this.submit = h("button", { class: "main" }, "Is it balanced?")),
      h("button", { type: "button", onclick: () => this.play().catch((error) => this.isCurrent() && complain(error)) }, "Play these rules"),
      h("button", { type: "button", class: "plain", onclick: reset }, "Undo all changes"),
    );
    main.replaceChildren(
      title("House rules", "Change how often a card exists and how much damage it deals. See whether the game stays balanced, and play it."),
      h("div", { class: "stack" }, form({ class: "panel stack" }, () => this.ask(), this.sliders, this.total, buttons), this.answer),
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
    this.count();
    this.asking?.abort();
    this.answer.hidden = true;
    history.replaceState(null, "", asks || this.isChanged() ? `#/rules/${this.query()}` : "#/rules");
    if (asks) this.submit.click();
  }

  set(key, kind, input, value) {
    this.rules[key][kind] = Number(input.value);
    value.textContent = input.value;
    this.count();
    this.asking?.abort();
    this.answer.hidden = true;
    history.replaceState(null, "", `#/rules/${this.query()}`);
  }

  isChanged() {
    return ["copies", "damage"].some((key) => String(this.rules[key]) !== String(this.standard[key]));
  }

  count() {
    const changes = ["copies", "damage"].flatMap((key) => CARDS.map((name, kind) => [name, key, this.rules[key][kind], this.standard[key][kind]])).filter(([, , now, before]) => now !== before);
    const words = changes.map(([name, key, now, before]) => (key === "copies" ? `${counted(now, `${name}`)} instead of ${before}` : `${name} deals ${now} instead of ${before}`));
    const n = this.rules.copies.reduce((sum, each) => sum + each, 0);
    this.total.textContent = `${counted(n, "card")} in all. ${words.length ? `Changed: ${words.join(", ")}.` : "Nothing is changed yet."}`;
  }

  /** Ask for a preliminary balance and then for a better one, and show them. */
  async ask() {
    calm();
    const waiting = (words) => h("p", { class: "quiet" }, words);
    let shown = [];
    // The request is aborted if the user changes the rules or leaves the page.
    const { signal } = (this.asking = new AbortController());
    this.answer.hidden = false;
    this.answer.replaceChildren(waiting("Two players learn this game. A first answer takes a few seconds …"));
    for (const seconds of SECONDS) {
      try {
        const found = await get("/balance", { ...this.shared(), seconds }, signal);
        shown = verdict(found);
        this.answer.replaceChildren(...shown, ...(seconds === SECONDS.at(-1) ? [] : [waiting("They learn for another minute …")]));
      } catch (error) {
        if (signal.aborted) return;
        this.answer.replaceChildren(...shown, h("p", { class: "bad", role: "alert" }, error.message));
        if (error.status !== CONFLICT) return;
      }
    }
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
    const model = this.isChanged() ? await get("/house-rules", this.shared()) : (await modelsThat("plays"))[0];
    addModel(model);
    keep("opponent", { digest: model.digest, game: model.game });
    const { table } = await post("/tables", lastChoice());
    if (!this.isCurrent()) return void remove(`/tables/${table}`);
    if (seat) remove(`/tables/${seat}`).catch(() => {});
    keep(SEAT, table);
    location.hash = "#/play";
  }
}

/** The verdict in words, a bar for each limit, and the effect of the change. */
function verdict({ changed: { balanced }, verdict: words, limits, finding }) {
  return [
    h("h2", { class: balanced === false ? "bad" : balanced ? "good" : null }, { true: "Balanced", false: "Not balanced" }[balanced] ?? "Undecided"),
    ...limits.map(bar),
    h("p", {}, words),
    finding && h("p", { class: "quiet" }, finding),
  ].filter(Boolean);
}

/** A number beside its limit, which is in the middle of the bar, and beside the number under the standard rules. */
function bar({ group, name, words, base, value: changed, is_minimum: isMinimum, limit, uncertainty }) {
  const share = (value) => `${Math.min(100, (50 * Math.abs(value)) / limit)}%`;
  const text = (value) => (group === "in_hand" ? `${(100 * value).toFixed(1)} points` : percent(value));
  const isBad = isMinimum ? changed < limit : Math.abs(changed) > limit;
  const told = [`${isMinimum ? "At least" : "At most"} ${text(limit)}.`, base !== null && `Before the change, ${name}: ${text(base)}.`, uncertainty > 0 && `Still uncertain by ${text(uncertainty)}.`];
  return h(
    "div",
    { class: "limit" },
    h("p", {}, h("span", { class: isBad ? "bad" : "good" }, isBad ? "✗ " : "✓ "), `${words[0].toUpperCase()}${words.slice(1)}.`),
    h("span", { class: isBad ? "bar over" : "bar", vars: { share: share(changed) } }),
    base !== null && h("span", { class: "bar second", vars: { share: share(base) } }),
    h("p", { class: "quiet small" }, told.filter(Boolean).join(" ")),
  );
}
