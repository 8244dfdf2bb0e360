/** Practice page: a quiz with positions in which the right choice matters most. */

import { get, judgesHere } from "./api.js";
import { actionTag } from "./cards.js";
import { announce, choice, h, percent, title } from "./dom.js";
import { keyOf } from "./keys.js";
import { keep, recall } from "./memory.js";
import { Punish } from "./punish.js";

const AT_ONCE = 10;
const NEW = { asked: 0, right: 0, lost: 0 };
// An answer counts as right if it loses less win probability than the first limit, as in the terminal, and as the best
// move if it loses less than the second.
const MOST_OF_RIGHT = 0.01;
const MOST_OF_BEST = 0.0005;

export const points = (loss) => (100 * loss).toFixed(1);
const scoreWords = ({ asked, right, lost }) => `${right} of ${asked} right, ${points(lost / asked)} points of win probability lost on average`;
const added = (score, isRight, loss) => ({ asked: score.asked + 1, right: score.right + Number(isRight), lost: score.lost + loss });

/** A link to the review of a game by a judge, at a position. */
export const gameLink = (game, judge, state) => h("a", { href: `#/review/${game}/${judge}/${state}` }, "Open the game");

/** An item of a list: a position, the move that was chosen, the best move, and the name of the judge. */
export function mistake({ words, actions, best }, chosen, did, judge, link) {
  const [move, top] = [chosen, best].map((wanted) => actions.find(({ action }) => action === wanted));
  const cost = move ? `${did} ${move.name}; ${top.name} wins ${points(top.value - move.value)} points more, judged by ${judge}. ` : `${did} an illegal move. `;
  return h("li", {}, words, " ", h("strong", {}, cost), link);
}

export async function show(main, _rest, isCurrent) {
  const judges = await judgesHere(isCurrent);
  if (!isCurrent()) return null;
  const quiz = new Quiz(main, judges);
  return () => quiz.leave();
}

/** A quiz. `given` contains the title, the positions of the first round, and the player from whose games positions are
 * taken. */
export class Quiz {
  constructor(main, judges, given = {}) {
    this.given = given;
    this.judges = judges;
    this.scoreLine = h("p", { class: "score" });
    this.place = h("div", { class: "stack" });
    const judge = choice("Judged by", judges.map(({ digest, person }) => [digest, person]), judges[0].digest, (digest) => this.begin(digest));
    this.reset = h("button", { type: "button", class: "plain", onclick: () => this.startAnew() }, "Reset score");
    main.replaceChildren(
      title(given.title ?? "Practice", `${given.lead ?? "Positions where the right choice matters most, from recorded games if there are any."} Which move wins most often?`),
      h("div", { class: "row score-row" }, this.scoreLine, this.reset, judges.length > 1 && judge.field),
      this.place,
    );
    this.count();
    this.listener = (event) => this.onKey(event);
    document.addEventListener("keydown", this.listener);
    this.begin(judges[0].digest, given);
  }

  leave() {
    document.removeEventListener("keydown", this.listener);
  }

  async begin(model, given = null) {
    this.model = model;
    this.judge = this.judges.find(({ digest }) => digest === model)?.person;
    this.questions = null;
    this.place.replaceChildren(h("p", { class: "quiet" }, "Looking for positions …"));
    try {
      const found = given?.positions ? given : await get("/practice", { model, n: AT_ONCE, player: this.given.player });
      if (model !== this.model) return;
      this.questions = found.positions;
      this.rules = found.rules;
    } catch (error) {
      this.place.replaceChildren(h("p", { class: "bad", role: "alert" }, error.message));
      return;
    }
    this.number = 0;
    this.round = NEW;
    this.missed = [];
    this.ask();
  }

  startAnew() {
    keep("practice", NEW);
    this.count();
    return this.begin(this.model);
  }

  /** Show the score of all rounds. */
  count() {
    const score = recall("practice", NEW);
    this.reset.hidden = !score.asked;
    this.scoreLine.textContent = score.asked ? `All rounds: ${scoreWords(score)}.` : "No answers yet.";
  }

  /** Store an answer. */
  answered(isRight, loss) {
    this.round = added(this.round, isRight, loss);
    keep("practice", added(recall("practice", NEW), isRight, loss));
    this.count();
  }

  get heading() {
    return `Question ${this.number + 1} of ${this.questions.length}: what do you play?`;
  }

  /** What is shown below a verdict: `links` and a button for the next question. */
  after(links) {
    const isLast = this.number + 1 === this.questions.length;
    const next = h("button", { type: "button", class: "main next", onclick: () => this.next() }, isLast ? "See how you did" : "Next question");
    return [h("div", { class: "row" }, next, links)];
  }

  ask() {
    const { actions } = this.questions[this.number];
    this.isOpen = true;
    this.verdict = h("div", { class: "stack" });
    const board = h("div", { class: "board" });
    this.table = new Punish(board, (action) => this.answer(actions.find((each) => each.action === action)));
    this.place.replaceChildren(h("div", { class: "practice" }, h("section", { class: "panel table", "aria-label": "Position" }, h("h2", {}, this.heading), board), this.verdict));
    this.seat(actions);
  }

  /** Show the position as at a table, with its legal moves. */
  seat(legal) {
    const { view } = this.questions[this.number];
    this.table.update({ rules: this.rules, names: ["you", "the enemy"], seat: 0, is_on: true, uncovered: null, view, legal }, []);
  }

  answer(action) {
    if (!this.isOpen) return;
    this.isOpen = false;
    const question = this.questions[this.number];
    const { actions, best, state, game, person, played } = question;
    const top = actions.find((each) => each.action === best);
    const loss = Math.max(0, top.value - action.value);
    const isRight = loss < MOST_OF_RIGHT;
    this.seat([]);
    const found = actions.map((each) =>
      h(
        "li",
        { class: `answer${top.value - each.value < MOST_OF_RIGHT ? " right" : ""}${each === action ? " mine" : ""}` },
        actionTag(each.action, each.name),
        h("span", { class: "bar", vars: { share: `${100 * each.value}%` } }),
        h("span", { class: "number" }, percent(each.value)),
      ),
    );
    const both = `${top.name} wins ${percent(top.value)}, ${action.name} ${percent(action.value)}: ${points(loss)} points less, judged by ${this.judge}.`;
    const words = loss < MOST_OF_BEST ? `Right: ${action.name} wins ${percent(action.value)}.` : isRight ? `Nearly as good: ${both}` : both;
    if (!isRight) this.missed.push([question, action.action]);
    this.answered(isRight, loss, action);
    this.verdict.className = "panel stack";
    this.verdict.replaceChildren(
      h("p", { class: isRight ? "verdict good" : "verdict bad" }, isRight ? "✓ " : "✗ ", words),
      this.reason(state, action),
      h("ul", { class: "choices" }, found),
      person && h("p", { class: "quiet" }, `In the recorded game, ${person} played ${actions.find((each) => each.action === played)?.name ?? "something else"} here.`),
      ...this.after([h("a", { href: `#/explore/${this.model}/${state}` }, "Explore this position"), game && gameLink(game, this.model, state)]),
    );
    announce(words);
    this.verdict.querySelector(".main").focus();
  }

  /** A placeholder to be filled with the server's explanation of why the best move is better than the answer. */
  reason(state, { action }) {
    const place = h("p", { class: "why" });
    get(`/models/${this.model}/why/${state}`).then(
      ({ actions }) => {
        place.textContent = actions.find((each) => each.action === action).contrast;
      },
      () => place.remove(),
    );
    return place;
  }

  next() {
    this.number += 1;
    if (this.number < this.questions.length) this.ask();
    else this.end();
  }

  end() {
    const again = h("button", { type: "button", class: "main", onclick: () => this.begin(this.model, this.questions === this.given.positions ? this.given : null) }, "Practice again");
    const words = `${scoreWords(this.round)}.`;
    this.place.replaceChildren(h("section", { class: "panel stack round" }, h("h2", {}, "End of the round"), h("p", {}, words), this.missed.length > 0 && h("h3", {}, "Look again at"), h("ol", { class: "lessons" }, this.missed.map(([question, action]) => mistake(question, action, "You chose", this.judge, h("a", { href: `#/explore/${this.model}/${question.state}` }, "Explore this position")))), h("div", { class: "row" }, again)));
    announce(words);
    again.focus();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    // A held Enter key must not skip the verdict.
    if (event.key === "Enter" && event.repeat) event.preventDefault();
    const key = keyOf(event);
    // Enter and space activate the focused button or link.
    if ((key === "Enter" || key === " ") && event.target.closest("button, a, summary")) return;
    if (this.questions && this.isOpen && this.table.press(key)) event.preventDefault();
  }
}
