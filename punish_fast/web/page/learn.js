/** Learn in a minute: a measure with fixed cards, at the real table; only the card that the step names can be played. */

import { post } from "./api.js";
import { CARDS } from "./cards.js";
import { announce, complain, h, isTouch } from "./dom.js";
import { keyOf } from "./keys.js";
import { keep, recall } from "./memory.js";
import { SEAT } from "./play.js";
import { Punish } from "./punish.js";
import { lastChoice, open, opponents } from "./welcome.js";

const RULES = { hp: 3, feints: 1, damage: [0, 1, 0, 2, 3], effects: [] };
// State before each step; a test checks it by the rules. `play` has your card, Clara's card and the card that you draw.
const STEPS = [
  { "breath": 1, "hp": [3, 3], "hand": [2, 1, 1, 1, 0], "discard": [0, 1, 0, 1, 1], "cards": 5, "deck": 2, "text": "You and Clara have three hearts and five cards each; you do not see her hand. A player without hearts loses." },
  { "breath": 1, "hp": [3, 3], "hand": [2, 1, 1, 1, 0], "discard": [0, 1, 0, 1, 1], "cards": 5, "deck": 2, "text": "Three cards lie open, and two are face down in the deck. There are three of each card, so you can count: you hold two guards, and Clara can have only one." },
  { "breath": 1, "hp": [3, 3], "hand": [2, 1, 1, 1, 0], "discard": [0, 1, 0, 1, 1], "cards": 5, "deck": 2, "play": ["guard", "strike"], "reason": "the guard reduces the strike from 2 to 1", "text": "Both pick a card in secret, and the cards clash. Rush deals 1, strike 2, punish 3. A guard takes 1 off." },
  { "breath": 2, "hp": [2, 3], "hand": [1, 1, 1, 1, 0], "discard": [1, 1, 0, 2, 1], "cards": 4, "deck": 2, "play": ["dodge", "punish"], "reason": "the dodge evades the punish", "text": "Clara's strike would have dealt 2; with your guard you lost only one heart. A dodge is better still: it evades every card but a rush." },
  { "breath": 3, "hp": [2, 3], "hand": [1, 1, 0, 1, 0], "discard": [1, 1, 1, 2, 2], "cards": 3, "deck": 2, "play": ["strike", "rest"], "reason": "the strike hits the resting player for 2", "text": "You dodged a punish, the strongest card. After a punish, its player must rest in the next breath, so Clara cannot defend herself. Hit her now!" },
  { "breath": 4, "hp": [2, 1], "hand": [1, 1, 0, 0, 0], "discard": [1, 1, 1, 3, 2], "cards": 3, "deck": 2, "play": ["guard", "guard", "dodge"], "reason": "guard and dodge deal nothing", "text": "Two hearts! Clara expects another attack and will guard. Surprise her with a feint, once per measure: throw a card away, and the top card of the deck is played instead." },
  { "breath": 4, "hp": [2, 1], "hand": [0, 1, 0, 0, 0], "discard": [3, 1, 2, 3, 2], "cards": 2, "deck": 1, "text": "You drew a dodge, Clara guarded, nobody is hurt. After four breaths the measure ends: both heal one heart, keep their cards and draw back up to five." },
  { "breath": 1, "hp": [3, 2], "hand": [1, 1, 1, 1, 1], "discard": [1, 1, 0, 1, 0], "cards": 5, "deck": 2, "text": "Three new cards lie open, and a new measure begins. If both players fall in the same breath, the lower card wins: rest, guard, rush, dodge, strike, punish. That is the whole game: count the cards, guess what comes, and hit first. Your turn!" }
];
const LAST = STEPS.length - 1;

/** A table without the effects of cards, which the steps explain. */
class Lesson extends Punish {
  hint(name) {
    return name && !this.feints ? "" : super.hint(name);
  }
}

/** The table before a step, as the server would show it. */
function tableAt(step) {
  const { breath, hp, hand, discard, cards, deck, play } = STEPS[step];
  const [own, , drawn] = play ?? [];
  const feinted = Number(deck < 2);
  const exhausted = STEPS[step - 1]?.play?.[1] === "punish";
  return {
    rules: RULES, names: ["you", "Clara"], seat: 0, is_on: true,
    legal: play ? [{ action: 10 * (CARDS.indexOf(own) + 1) + (drawn ? 1 : 0), name: drawn ? `feint with ${own}` : own }] : [],
    view: {
      breath, breaths: 4, measure: step < LAST ? 1 : 2, hand, discard, deck, unseen: hand.map((n, kind) => 3 - n - discard[kind]),
      own: { hp: hp[0], cards: hand.reduce((sum, n) => sum + n), exhausted: false, feinted }, enemy: { hp: hp[1], cards, exhausted, feinted: 0 },
    },
  };
}

/** Events of the play before a step. */
function eventsBefore(step) {
  const [own, other, drawn] = STEPS[step - 1]?.play ?? [];
  if (!own) return [];
  const hurt = (name, seat) => ({ kind: "damage", seat, amount: STEPS[step - 1].hp[seat] - STEPS[step].hp[seat], name });
  const damage = ["You lose", "Clara loses"].map(hurt).filter(({ amount }) => amount > 0);
  return [{ kind: "reveal", plays: [{ card: own, drawn }, { card: other }] }, { kind: "clash", reason: STEPS[step - 1].reason }, ...damage.map((each) => ({ ...each, words: `${each.name} ${each.amount}.` }))];
}

/** Say how to play a card. */
function demand([own, , drawn]) {
  const key = (name) => (isTouch() ? "" : ` (${name})`);
  return `${isTouch() ? "Tap" : "Click"} ${drawn ? `Feint${key("f")}, then ` : ""}your ${own}${key(own[0])}, then Play${key("Enter")}.`;
}

/** Begin a game against the easy opponent, if there is one and no other game is on; then go to the table. */
async function begin(isCurrent) {
  const easy = (await opponents()).find(({ level }) => level === "easy");
  const model = easy && !recall(SEAT, null) && (await open(easy, isCurrent));
  if (!isCurrent()) return;
  if (model) {
    keep("opponent", { digest: model.digest, game: model.game });
    keep(SEAT, (await post("/tables", lastChoice())).table);
  }
  location.hash = "#/play";
}

export function show(main, _rest, isCurrent) {
  let step = 0;
  const [board, words, press, count] = [h("div", { class: "board" }), h("p"), h("span", { class: "good" }), h("span", { class: "quiet small" })];
  const advance = () => {
    step += 1;
    if (step <= LAST) return void draw();
    next.disabled = true;
    begin(isCurrent).catch(complain).finally(() => (next.disabled = false));
  };
  const next = h("button", { type: "button", class: "main large", onclick: advance });
  const table = new Lesson(board, advance);
  const target = () => board.querySelector("button.feint") ?? board.querySelector("button.card:enabled") ?? next;
  const draw = () => {
    const { text, play } = STEPS[step];
    table.update(tableAt(step), eventsBefore(step));
    board.classList.toggle("marked", step === 1);
    words.textContent = text;
    press.hidden = !play;
    press.textContent = play && demand(play);
    next.hidden = !press.hidden;
    next.textContent = step === LAST ? "Play" : "Next";
    count.textContent = `${step + 1} of ${LAST + 1}`;
    announce(`${text} ${press.textContent}`);
    target().focus();
  };
  const onKey = (event) => {
    // Enter activates the focused card or button; a held Enter key must not skip steps.
    if (event.key === "Enter" && event.repeat) event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.key === "Enter") return;
    if (table.press(keyOf(event))) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  const row = h("div", { class: "row" }, press, next, h("a", { href: "#/play" }, "Skip"), count);
  main.replaceChildren(h("div", { class: "learn" }, h("section", { class: "panel stack" }, h("h1", {}, "Learn in a minute"), words, row), h("section", { class: "panel table", "aria-label": "Table" }, board)));
  draw();
  return () => document.removeEventListener("keydown", onKey);
}
