/** Renderer of Punish. The renderer of a game, registered in games.js, is a class with this interface:
 *
 *  new Game(place, choose)  draw in the element `place`; call choose(action) when a move is confirmed
 *  update(table, events)    show a table from the server and its new events
 *  press(key)               handle a key; return true if the key has a meaning
 *  advise(coach)            show the coach's advice for this position; null removes it
 *  hint(moves)              show the outcome of each move until the next update, if agents give hints
 *  heading(event)           heading of the log section that an event begins, or null
 *  words(event)             text for an event, or null
 *  keys                     [key, meaning] pairs for the help
 *  legend(rules)            reference shown during a game
 *  Game.isInTurn            true if players take turns and either may begin
 *  Game.title               heading; for Punish, heading and introductory sentence
 *  Game.primer(rules)       introduction shown before a game
 *  Game.clashes(rules)      table for the help (optional)
 */

import { clock, kinds, openHand, pile, player } from "./board.js";
import { CARDS, REST, back, card, cardButton, changeWords, isFeint, noCard, restCard, smallCard, tag } from "./cards.js";
import { counted, h, isTouch, keyButton, percent, unseen } from "./dom.js";
import { play } from "./sound.js";

// Pixels by which a finger must move a card upwards to play it.
const FLICK = 40;
// Kinds of cards by key: the initial of the card.
const KINDS_BY_KEY = Object.fromEntries(CARDS.map((name, kind) => [name[0], kind]));

/** House rules: what differs from the standard rules. */
const badge = ({ changes }) => changes.length > 0 && h("p", { class: "statuses" }, h("strong", {}, "House rules"), changes.map((change) => h("span", { class: "status" }, changeWords(change))));

/** Explain the damage of a clash in one sentence. */
const reasonOf = ({ reason }) => `${reason[0].toUpperCase()}${reason.slice(1)}.`;

export class Punish {
  static title = ["A duel of five cards", "You and your opponent each pick a card in secret. Both cards are revealed at the same time and clash. You lose when you have no hearts left."];

  keys = [
    ["g r d s p", "pick guard, rush, dodge, strike, punish"],
    ["f", "feint with the card that you pick"],
    ["Enter", "play your pick, or rest if you must"],
    ["Escape", "take it back"],
  ];

  constructor(place, choose) {
    this.choose = choose;
    this.picked = null; // {kind, index}: picked card and its position in the hand; null if none is picked
    this.feints = false;
    this.coach = null;
    this.shown = null; // events of the last clash, beginning with "reveal"; null before the first clash
    this.top = h("div", { class: "stack" });
    this.middle = h("div", { class: "middle" });
    this.you = h("div", { class: "you" });
    place.replaceChildren(this.top, this.middle, this.you);
  }

  static primer(rules) {
    const { breaths, healing, hand_size: full, feints, hp, reveal_size: open, deck_size: deck } = rules;
    const often = feints === 1 ? "Once" : `${feints} times`;
    const lines = [
      `Both players start with ${counted(hp, "heart")} and ${counted(full, "card")}. ${counted(open, "card")} are turned face up as the discard pile, and ${deck} stay face down as the deck.`,
      `A measure has ${breaths} breaths; in each of them, both players play a card. Then both heal ${counted(healing, "heart")} (up to ${hp}), keep the cards in hand and draw back up to ${full} from the shuffled discard pile and deck; ${open} new cards are turned face up. Nobody has to rest in the first breath.`,
      feints && `${often} per measure you may feint: throw a card away, and play the top card of the deck instead, with all its effects.`,
      "A player who must rest or has no cards left plays nothing and takes the full damage.",
      `If both players fall in the same breath, the lower card wins: ${rules.priority.join(" < ")}.`,
      "You see your hand and the discard pile, so you can work out which cards the other player may still hold.",
    ];
    const face = (name, kind) => h("li", {}, card(name, rules.damage[kind]), h("span", { class: "quiet small" }, `${counted(rules.copies[kind], "copy", "copies")}: ${rules.effects[kind]}`));
    return [
      h("h2", {}, "What the cards do"),
      badge(rules),
      h("ul", { class: "faces" }, CARDS.map(face)),
      h("div", { class: "halves" }, Punish.clashes(rules), h("ul", { class: "lines" }, lines.filter(Boolean).map((line) => h("li", {}, line)))),
    ].filter(Boolean);
  }

  /** Table of the damage that both players deal in each clash. */
  static clashes({ taken }) {
    const names = [...CARDS, "rest"];
    const head = (name, scope) => h("th", { scope }, tag(name, h("span", { class: "label" }, name)));
    const cell = (own, enemy) => {
      const [dealt, got] = [taken[enemy][own], taken[own][enemy]];
      const css = dealt > got ? "good" : dealt < got ? "bad" : "quiet";
      return h("td", { class: css }, dealt || got ? `${dealt}:${got}` : "–");
    };
    return h(
      "table",
      { class: "clashes" },
      h("caption", {}, "All clashes: damage you deal : damage you take"),
      h("thead", {}, h("tr", {}, h("td", {}, "you play"), names.map((name) => head(name, "col")))),
      h("tbody", {}, CARDS.map((name, own) => h("tr", {}, head(name, "row"), names.map((_, enemy) => cell(own, enemy))))),
    );
  }

  legend(rules) {
    const lines = CARDS.map((name, kind) => [h("dt", {}, tag(name)), h("dd", {}, rules.effects[kind])]);
    return [h("h2", {}, "What the cards do"), badge(rules), h("dl", { class: "effects" }, lines)].filter(Boolean);
  }

  update(table, events) {
    this.table = table;
    this.picked = null;
    this.feints = false;
    this.coach = null;
    const reveal = events.findLast((event) => event.kind === "reveal");
    if (reveal) {
      this.shown = events.slice(events.indexOf(reveal));
      this.sound();
    }
    // Focus the whole hand, because a focus ring around the card now at this position would look like a pick.
    if (reveal && this.you.contains(document.activeElement)) this.you.querySelector(".hand")?.focus();
    this.drawTop(Boolean(reveal));
    this.drawMiddle(Boolean(reveal));
    this.drawYou(Boolean(reveal));
  }

  advise(coach) {
    if (coach === this.coach) return;
    this.coach = coach;
    this.drawYou();
  }

  heading(event) {
    if (event.kind === "deal") return `Measure ${event.measure}`;
    return event.kind === "reveal" ? `Breath ${event.breath}` : null;
  }

  words(event) {
    // The text of the event "reveal" names both cards.
    return event.kind === "clash" ? reasonOf(event) : event.words;
  }

  press(key) {
    if (!this.isOn) return false;
    const kind = KINDS_BY_KEY[key];
    if (kind !== undefined) return this.pickKind(kind);
    if (key === "f") return this.toggleFeint();
    if (key === "Escape") return this.takeBack();
    if (key === "Enter") return this.confirm();
    return false;
  }

  get isOn() {
    return this.table?.is_on && this.table.legal.length > 0;
  }

  get mayFeint() {
    return this.table.legal.some(({ action }) => isFeint(action));
  }

  get mustRest() {
    return this.isOn && this.table.legal.every(({ action }) => action === REST);
  }

  /** Return the legal move with a kind of card, a feint if `feints` is set; undefined if the move is not legal. */
  move(kind) {
    const action = 10 * (kind + 1) + Number(this.feints);
    return this.table.legal.find((each) => each.action === action);
  }

  pickKind(kind) {
    const index = kinds(this.table.view.hand).indexOf(kind);
    if (index < 0 || !this.move(kind)) return false;
    this.pick(kind, index);
    this.you.querySelector(".confirm")?.focus();
    return true;
  }

  /** Pick a card; picking it again plays it. */
  pick(kind, index) {
    if (this.picked?.index === index) return this.confirm();
    this.picked = { kind, index };
    this.drawYou();
    this.you.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Listeners that play a card when a finger flicks it upwards. */
  flick(kind, index) {
    let from = null;
    return {
      onpointerdown: ({ pointerType, clientY }) => (from = pointerType === "mouse" ? null : clientY),
      onpointerup: ({ clientY }) => {
        const isFlick = from !== null && from - clientY > FLICK;
        from = null;
        if (!isFlick) return;
        this.picked = { kind, index };
        this.confirm();
      },
    };
  }

  toggleFeint() {
    if (!this.mayFeint) return false;
    this.feints = !this.feints;
    this.drawYou();
    this.you.scrollIntoView({ block: "nearest" });
    return true;
  }

  takeBack() {
    if (!this.picked && !this.feints) return false;
    this.picked = null;
    this.feints = false;
    this.drawYou();
    return true;
  }

  confirm() {
    const move = this.mustRest ? this.table.legal[0] : this.picked && this.move(this.picked.kind);
    if (!move) return false;
    this.choose(move.action);
    return true;
  }

  /** Play the sounds of the last clash. */
  sound() {
    play("turn");
    play(this.shown.some(({ kind }) => kind === "damage") ? "hit" : "block");
    const end = this.shown.find(({ kind }) => kind === "end");
    if (end) play(end.winner === this.table.seat ? "win" : "loss");
  }

  drawTop(isFresh) {
    this.top.className = isFresh ? "stack fresh" : "stack";
    const { view, rules, names, is_on: isOn, uncovered } = this.table;
    const cards = (n, counts) => h("div", { class: "backs" }, counts ? kinds(counts).map((kind) => smallCard(CARDS[kind])) : Array.from({ length: n }, back));
    this.top.replaceChildren(
      clock(view),
      h(
        "div",
        { class: "foe" },
        player(names[1], view.enemy, rules, { lost: this.lost(1), isOn }),
        h(
          "div",
          { class: "foe-cards" },
          h("div", { class: "under" }, cards(view.enemy.cards, uncovered?.hand), `hand of ${view.enemy.cards}`),
          h("div", { class: "under" }, cards(view.deck, uncovered?.deck), `deck of ${view.deck}`),
        ),
      ),
    );
  }

  drawMiddle(isFresh) {
    const { view } = this.table;
    this.middle.className = isFresh ? "middle fresh" : "middle";
    this.middle.replaceChildren(
      pile("Discard pile", view.discard),
      this.duel(),
      this.others(),
      h("div", { class: "result" }, this.result()),
    );
  }

  /** The pile beside the duel. */
  others() {
    return pile(this.table.is_on ? "Not seen yet" : "Not seen", this.table.view.unseen, "hand or deck");
  }

  duel() {
    const { names } = this.table;
    const reveal = this.shown?.[0];
    const seat = (number, css) => {
      if (!reveal) return h("figure", {}, noCard(), h("figcaption", {}, names[number]));
      const { card: pick, drawn } = reveal.plays[(number + this.table.seat) % 2];
      const played = drawn ?? pick;
      return h(
        "figure",
        {},
        h("div", { class: css }, played === "rest" ? restCard() : card(played)),
        drawn && h("div", { class: "away", title: `feinted with ${pick}` }, smallCard(pick)),
        h("figcaption", {}, names[number], drawn && h("span", { class: "sr" }, ` feints with ${pick}, draws ${played}`)),
      );
    };
    return h("div", { class: "duel" }, seat(0, "mine"), h("span", { class: "versus" }, "vs"), seat(1, "theirs"));
  }

  /** The result of the last clash as text. */
  result() {
    if (!this.shown) return "Both players pick a card in secret. Then the cards clash.";
    const said = (kind) => this.shown.filter((event) => event.kind === kind).map((event) => event.words);
    return [
      h("strong", {}, reasonOf(this.shown.find(({ kind }) => kind === "clash"))),
      h("span", { class: "quiet" }, ["damage", "heal", "exhaustion", "reshuffle"].flatMap(said).join(" ")),
    ];
  }

  /** Return the hearts that player 0 (the user) or 1 lost in the last clash; 0 if the measure has ended and players have healed. */
  lost(number) {
    const seat = (number + this.table.seat) % 2;
    const events = this.shown ?? [];
    if (events.some((event) => event.kind === "reshuffle")) return 0;
    const sum = (kind) => events.filter((event) => event.kind === kind && event.seat === seat).reduce((all, e) => all + e.amount, 0);
    return Math.max(0, sum("damage") - sum("heal"));
  }

  /** Draw the user's row and hand. Lost hearts break only if `isFresh` is true. */
  drawYou(isFresh = false) {
    this.you.className = isFresh ? "you fresh" : "you";
    const { view, rules, names, is_on: isOn } = this.table;
    const focused = this.you.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.you.replaceChildren(
      player(names[0], view.own, rules, { lost: this.lost(0), isOn }),
      ...(isOn ? [this.hand(), this.controls()] : [openHand(view)]),
    );
    if (focused) (this.you.querySelector(`[data-focus="${focused}"]`) ?? this.you.querySelector(".hand"))?.focus();
  }

  hand() {
    const { view, rules } = this.table;
    const most = Math.max(...(this.coach?.chances ?? []).map(({ win }) => win));
    // A friend may still be choosing.
    const chosen = this.table.friend?.chosen;
    const mine = chosen ? kinds(view.hand).indexOf(Math.floor(chosen.action / 10) - 1) : this.picked?.index;
    return h(
      "div",
      { class: "hand", role: "group", "aria-label": "Your hand", tabindex: "-1", "data-focus": "hand" },
      kinds(view.hand).map((kind, index) => {
        const move = this.isOn ? this.move(kind) : undefined;
        const feint = this.advisedFeint === 10 * (kind + 1) + 1;
        const win = feint ? most : move && this.coach?.chances.find(({ action }) => action === move.action)?.win;
        const isPicked = index === mine;
        return cardButton(
          CARDS[kind],
          rules.damage[kind],
          {
            "aria-pressed": String(isPicked),
            "data-focus": `card-${index}`,
            "data-kind": CARDS[kind],
            disabled: !move,
            title: rules.effects[kind],
            onclick: () => this.pick(kind, index),
            ...this.flick(kind, index),
          },
          win !== undefined && h("span", { class: win === most ? "chance best" : "chance" }, feint && "feint ", unseen("wins "), percent(win, 0)),
        );
      }),
      view.own.cards === 0 && h("p", { class: "quiet" }, "No cards left in this measure."),
    );
  }

  /** The coach's best move if it is a feint and feinting is not selected. */
  get advisedFeint() {
    const best = this.coach?.chances[0].action;
    return !this.feints && isFeint(best) ? best : null;
  }

  controls() {
    const name = this.picked ? this.move(this.picked.kind)?.name : null;
    const button = (label, key, css, onclick) => keyButton(label, key, { class: css, "data-focus": css, onclick });
    return h(
      "div",
      { class: "controls" },
      this.mustRest && button("Rest", "Enter", "main confirm", () => this.confirm()),
      name && button(`Play ${name}`, "Enter", "main confirm", () => this.confirm()),
      (name || this.feints) && button("Take back", "Esc", "back-out", () => this.takeBack()),
      this.mayFeint &&
        keyButton("Feint", "f", { class: "feint", "aria-pressed": String(this.feints), "data-focus": "feint", onclick: () => this.toggleFeint() }),
      h("p", { class: "words", "aria-live": "polite" }, this.hint(name)),
    );
  }

  hint(name) {
    if (!this.isOn) return "";
    if (this.mustRest) return "You can only rest in this breath: any attack hits you in full.";
    if (name && this.feints) return `Throws the ${CARDS[this.picked.kind]} away and plays the top card of the deck instead.`;
    if (name) return `${CARDS[this.picked.kind]} ${this.table.rules.effects[this.picked.kind]}.`;
    if (this.feints) return "Pick the card to throw away; the top card of the deck is played instead.";
    return isTouch() ? "Tap a card, or flick it up to play it at once." : "Pick a card: click it, or type its letter.";
  }
}
