/** Explore page: values of the moves in any position, with explanations. */

import { get, modelsThat } from "./api.js";
import { CARDS, chips, isFeint, actionTag, sign, tag } from "./cards.js";
import { choice, counted, h, percent, tableHead, title, unseen } from "./dom.js";
import { copyButton } from "./share.js";

const N_DIGITS = 18;
const MOST_HANDS = 8;
// Pattern of the initials of cards; a position has at most nine cards of a kind.
const INITIALS = "[grdspGRDSP]{1,9}";

let explorer = null;

export async function show(main, rest, isCurrent) {
  const models = await modelsThat("explains", isCurrent);
  if (!isCurrent()) return null;
  if (!models.length) throw new Error("This server has no agent to explore. Start it with one: punish-fast serve agent.h5");
  const [digest, state] = rest;
  if (digest && !models.some((model) => model.digest === digest)) throw new Error("The agent of this link is not served here.");
  explorer = new Explorer(main, models);
  const mine = explorer;
  await explorer.load(digest || models[0].digest, state);
  return () => {
    if (explorer === mine) explorer = null;
  };
}

/** Show the position of a new address in the open page; every position has its own address. */
export function follow(rest) {
  if (!explorer || location.hash.split("/")[1] !== "explore" || rest.length < 2) return false;
  if (!explorer.models.some((model) => model.digest === rest[0])) return false;
  explorer.load(...rest);
  return true;
}

/** Decode a position: the digits of its code are its fields, in order. */
function fieldsOf(state) {
  const d = [...state].map(Number);
  const [own_hp, own_exhausted, own_feinted, enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted] = d.slice(6, 13);
  return { breath: d[0], hand: d.slice(1, 6), own_hp, own_exhausted, own_feinted, enemy_hp, enemy_hand, enemy_exhausted, enemy_feinted, discard: d.slice(13) };
}

const codeOf = (f) =>
  [f.breath, ...f.hand, f.own_hp, f.own_exhausted, f.own_feinted, f.enemy_hp, f.enemy_hand, f.enemy_exhausted, f.enemy_feinted, ...f.discard].join("");

/** Return the code of an opening position with a hand and a discard pile, given by initials such as "rrspp". By default,
 * they get one card of each kind, then second copies, and so on. */
function openingOf(rules, hand, discard) {
  const count = (letters) => CARDS.map(([initial]) => letters.split(initial).length - 1);
  const copies = Object.fromEntries(CARDS.map(([initial], kind) => [initial, rules.copies[kind]]));
  let left = Array.from({ length: 10 }, (_, copy) => [..."srpgd"].filter((initial) => copy < copies[initial])).flat().join("");
  const own = hand ?? left.slice(0, rules.hand_size);
  for (const initial of own) left = left.replace(initial, "");
  const calm = { own_exhausted: 0, own_feinted: 0, enemy_exhausted: 0, enemy_feinted: 0 };
  return codeOf({ breath: 1, hand: count(own), discard: count(discard ?? left.slice(0, rules.reveal_size)), own_hp: rules.hp, enemy_hp: rules.hp, enemy_hand: rules.hand_size, ...calm });
}

class Explorer {
  constructor(main, models) {
    this.models = models;
    this.form = h("section", { class: "panel stack", "aria-label": "Position" });
    this.words = h("p", { class: "reason", role: "status" });
    this.links = h("div", { class: "row" });
    this.answer = h("div", { class: "stack" });
    main.replaceChildren(
      title("Explore", "Build a position, and see what each move is worth, what the enemy may hold, and how it may reply."),
      h("div", { class: "explore" }, this.form, h("div", { class: "stack" }, this.words, this.links, this.answer)),
    );
  }

  async load(digest, state) {
    if (digest !== this.digest) {
      const meta = await get(`/models/${digest}/meta`);
      this.digest = digest;
      this.rules = meta.fields;
    }
    this.state = state ?? openingOf(this.rules);
    const wanted = this.state;
    if (!/^\d{18}$/.test(wanted)) {
      this.refuse(`${wanted.slice(0, 40)} is not the code of a position, which has ${N_DIGITS} digits.`);
      return;
    }
    this.fields = fieldsOf(wanted);
    this.drawForm();
    if (!this.answer.firstChild) this.words.textContent = "Working it out …";
    try {
      const why = await get(`/models/${digest}/why/${wanted}`);
      if (wanted === this.state) this.drawAnswer(why);
    } catch (error) {
      if (wanted === this.state) this.refuse(this.missing() ?? error.message);
    }
  }

  /** True if the agent plays by the rules of the server, to which links of positions refer. */
  get isStandard() {
    const { rules_digest: own } = this.models.find(({ digest }) => digest === this.digest);
    return own === this.models[0].rules_digest;
  }

  /** Go to another position, which has its own address. */
  go(state, digest = this.digest) {
    location.hash = `#/explore/${digest}/${state}`;
  }

  change(changes) {
    this.go(codeOf({ ...this.fields, ...changes }));
  }

  refuse(reason) {
    this.words.textContent = reason;
    this.words.classList.add("bad");
    this.answer.inert = true;
    this.answer.classList.add("stale");
  }

  /** Return the reason why the numbers of cards are inconsistent; null if none is found. */
  missing() {
    const { rules, fields: f } = this;
    const sum = (counts) => counts.reduce((total, n) => total + n, 0);
    const deck = rules.deck_size - f.own_feinted - f.enemy_feinted;
    const needed = rules.n_cards - deck - sum(f.hand) - f.enemy_hand;
    const has = sum(f.discard);
    const held = sum(f.hand);
    if (held > rules.hand_size) return `Your hand has ${counted(held, "card")}, but the maximum is ${rules.hand_size}.`;
    if (f.breath > rules.breaths) return null;
    const least = rules.hand_size - f.breath + 1;
    if (has === needed) return Math.min(held, f.enemy_hand) < least ? `In breath ${f.breath}, both players have at least ${counted(least, "card")}.` : null;
    return `The discard pile has ${counted(has, "card")}, but must have ${needed}: ${rules.n_cards} in play, minus ${sum(f.hand)} in your hand, ${f.enemy_hand} in the enemy's and ${deck} in the deck.`;
  }

  drawForm() {
    const { rules, fields: f } = this;
    const focused = this.form.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    const model = choice("Agent", this.models.map((each) => [each.digest, `${each.person} (rules ${each.rules})`]), this.digest, (digest) => this.goModel(digest));
    const code = h("input", {
      value: this.state, pattern: `\\s*(\\d{${N_DIGITS}}|${INITIALS}(\\s+${INITIALS})?)\\s*`, required: true, spellcheck: "false", autocapitalize: "none",
      "aria-label": "Code of the position, or a hand such as rrspp",
      oninput: () => code.setCustomValidity(""),
      oninvalid: () => code.setCustomValidity(`The code of a position has ${N_DIGITS} digits. A hand has initials of cards, such as rrspp, and so has the discard pile after it, such as rrspp ddd.`),
    });
    const paste = (event) => {
      event.preventDefault();
      const typed = code.value.trim().toLowerCase();
      const [first, pile] = typed.split(/\s+/);
      if (/^\d/.test(typed)) this.go(typed);
      // The page of hands answers as the first agent, and for all discard piles.
      else if (this.digest === this.models[0].digest) location.hash = pile ? `#/hand/${first}/${pile}` : `#/hand/${first}`;
      else this.go(openingOf(rules, first, pile));
      // On phones, the answer is far above this form.
      scrollTo(0, 0);
    };
    this.form.replaceChildren(
      model.field,
      this.counts("Your hand", "hand", rules),
      this.counts("Discard pile", "discard", rules),
      h(
        "div",
        { class: "sides" },
        this.side("You", "own", rules, f),
        this.side("Enemy", "enemy", rules, f, this.stepper("Cards", "enemy_hand", 0, rules.hand_size)),
      ),
      this.stepper("Breath", "breath", 1, rules.breaths),
      h(
        "form",
        { class: "code", onsubmit: paste },
        h("label", { class: "field" }, h("span", {}, "Code, or a hand such as rrspp"), code),
        h("button", {}, "Go"),
      ),
    );
    this.links.replaceChildren(this.isStandard ? copyButton(`links/positions/${this.state}`) : "", h("a", { href: `#/explore/${this.digest}/${openingOf(rules)}` }, "Start over"));
    if (focused) this.form.querySelector(`[data-focus="${focused}"]`)?.focus();
  }

  async goModel(digest) {
    const { fields } = await get(`/models/${digest}/meta`);
    const same = JSON.stringify(fields.copies) === JSON.stringify(this.rules.copies);
    this.go(same ? this.state : openingOf(fields), digest);
  }

  /** Controls for the number of each kind of card in the hand or discard pile. */
  counts(label, key, rules) {
    const counts = this.fields[key];
    const other = this.fields[key === "hand" ? "discard" : "hand"];
    const set = (kind, n) => this.change({ [key]: counts.map((old, k) => (k === kind ? n : old)) });
    const total = counts.reduce((sum, n) => sum + n, 0);
    return h(
      "fieldset",
      { class: "counts" },
      h("legend", {}, label, h("span", { class: "quiet" }, ` ${counted(total, "card")}`)),
      CARDS.map((name, kind) =>
        h(
          "div",
          { class: "count" },
          h(
            "button",
            {
              type: "button", class: counts[kind] ? "chip" : "chip nothing", "data-card": name, "data-focus": `${key}-${kind}-more`,
              disabled: counts[kind] + other[kind] >= rules.copies[kind], onclick: () => set(kind, counts[kind] + 1), title: `One more ${name}`,
            },
            sign(name),
            h("span", { "aria-hidden": "true" }, counts[kind] || "–"),
            unseen(`one more ${name}, now ${counts[kind]}`),
          ),
          h("span", { class: "label", "aria-hidden": "true" }, name),
          h("button", { type: "button", class: "less", "data-focus": `${key}-${kind}-less`, disabled: !counts[kind], onclick: () => set(kind, counts[kind] - 1), title: `One ${name} less` }, "−", unseen(`one ${name} less`)),
        ),
      ),
    );
  }

  side(label, who, rules, f, more) {
    const check = (text, key, value) => {
      const box = h("input", { type: "checkbox", checked: value > 0, "data-focus": key, onchange: () => this.change({ [key]: Number(box.checked) }) });
      return h("label", { class: "check" }, box, text);
    };
    return h(
      "fieldset",
      { class: "side" },
      h("legend", {}, label),
      this.stepper("Hearts", `${who}_hp`, 1, rules.hp),
      more,
      check("exhausted", `${who}_exhausted`, f[`${who}_exhausted`]),
      rules.feints > 1 ? this.stepper("Feints made", `${who}_feinted`, 0, rules.feints) : rules.feints === 1 && check("has feinted", `${who}_feinted`, f[`${who}_feinted`]),
    );
  }

  stepper(label, key, low, high) {
    const value = this.fields[key];
    const step = (text, n, name) =>
      h("button", { type: "button", "data-focus": `${key}${name}`, disabled: n < low || n > high, onclick: () => this.change({ [key]: n }) }, text, unseen(` ${label}`));
    return h("div", { class: "stepper" }, h("span", {}, label), step("−", value - 1, "less"), h("output", {}, value), step("+", value + 1, "more"));
  }

  drawAnswer(why) {
    this.words.classList.remove("bad");
    this.words.textContent = why.words;
    this.answer.inert = false;
    this.answer.classList.remove("stale");
    const isChance = why.unit === "win";
    const value = (v) => (v === null ? "–" : isChance ? percent(v) : v.toFixed(2));
    const share = (v) => `${(100 * (v - why.worst)) / (why.best - why.worst)}%`;
    const { name, person, level } = this.models.find(({ digest }) => digest === this.digest);
    // Players that follow a rule may choose uniformly by their rule.
    const isKnown = (name !== person && level !== "hard") || why.actions.length === 1 || why.actions.some(({ policy }) => policy !== why.actions[0].policy);
    const best = why.actions.reduce((a, b) => ((b.value ?? b.policy) > (a.value ?? a.policy) ? b : a));
    this.answer.replaceChildren(
      h(
        "section",
        { class: "panel" },
        h("h2", {}, `${isChance ? "Chance of winning with" : "Value of"} each move, against ${why.against}${person === why.against ? "" : `, judged by ${person}`}`),
        h("p", { class: "quiet small" }, `With this discard pile, assuming that you continue with the best moves. ${isChance ? "" : `Values range from ${why.worst} to ${why.best}. `}${isKnown ? "" : `${person} does not know this position. `}Open a move to see its result against each enemy card.`),
        h("div", { class: "moves" }, h("div", { class: "heads number quiet small" }, h("span", {}, isChance ? "wins" : "value"), h("span", {}, `${person}: how often`)), why.actions.map((each) => move(each, each === best, value, share))),
      ),
      h(
        "div",
        { class: "halves" },
        h("section", { class: "panel" }, h("h2", {}, "What the enemy may do"), answers(why.answers)),
        h("section", { class: "panel" }, h("h2", {}, "Hands the enemy may hold"), hands(why.hands)),
      ),
    );
  }
}

/** A move; its details show the value against each enemy action. */
function move(action, isBest, value, share) {
  return h(
    "details",
    { class: isBest ? "move best" : "move" },
    h(
      "summary",
      {},
      actionTag(action.action, action.name),
      h("span", { class: "bar", vars: { share: action.value === null ? "0%" : share(action.value) } }),
      h("span", { class: "number" }, value(action.value)),
      h("span", { class: "number quiet" }, percent(action.policy, 0)),
      h("span", { class: "verdict" }, isBest ? "best" : ""),
    ),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "against" },
        tableHead(["enemy plays", "how often", "then", "what happens"], [1, 2]),
        h(
          "tbody",
          {},
          action.against.map((each) =>
            h("tr", {}, h("th", { scope: "row" }, actionTag(each.action, each.name)), h("td", { class: "number" }, percent(each.probability)), h("td", { class: "number" }, value(each.value)), h("td", {}, each.words)),
          ),
        ),
      ),
    ),
  );
}

function answers(list) {
  return h(
    "ul",
    { class: "answers" },
    list.map(({ action, name, probability }) =>
      h("li", {}, isFeint(action) ? actionTag(action, name) : tag(name), h("span", { class: "bar second", vars: { share: `${100 * probability}%` } }), h("span", { class: "number" }, percent(probability))),
    ),
  );
}

function hands(list) {
  const more = list.length - MOST_HANDS;
  return [
    h(
      "ul",
      { class: "hands" },
      list.slice(0, MOST_HANDS).map(({ hand, probability }) => h("li", {}, chips(hand, "hand"), h("span", { class: "number" }, percent(probability)))),
    ),
    more > 0 && h("p", { class: "quiet small" }, `and ${counted(more, "other hand")}`),
  ];
}
