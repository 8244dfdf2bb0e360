/** Practice: positions of recorded games in which the right choice matters most, as a quiz. */

import { get, modelsThat } from "./api.js";
import { position } from "./board.js";
import { actionTag } from "./cards.js";
import { announce, choice, h, percent, title } from "./dom.js";
import { keep, recall } from "./memory.js";

const AT_ONCE = 10;
const NEW = { asked: 0, right: 0, lost: 0 };

export async function show(main, _rest, isCurrent) {
  const judges = await modelsThat("judges", isCurrent);
  if (!isCurrent()) return null;
  const quiz = new Quiz(main, judges);
  await quiz.begin(judges[0]?.hash);
  return () => quiz.leave();
}

class Quiz {
  constructor(main, judges) {
    this.score = recall("practice", NEW);
    this.scoreLine = h("p", { class: "score" });
    this.place = h("div", { class: "stack" });
    const judge = choice("Judged by", judges.map(({ hash, name }) => [hash, name]), judges[0]?.hash, (hash) => this.begin(hash));
    const reset = h("button", { type: "button", class: "plain", onclick: () => this.count(NEW) }, "Start the score anew");
    main.replaceChildren(
      title("Practice", "Positions where the right choice matters most, from recorded games if there are any. Which move wins most often?"),
      h("div", { class: "row score-row" }, this.scoreLine, reset, judges.length > 1 && judge.field),
      this.place,
    );
    this.count(this.score);
    this.listener = (event) => this.onKey(event);
    document.addEventListener("keydown", this.listener);
  }

  leave() {
    document.removeEventListener("keydown", this.listener);
  }

  async begin(model) {
    this.model = model;
    if (!this.place.firstChild) this.place.replaceChildren(h("p", { class: "quiet" }, "Looking for positions …"));
    const found = await get("/practice", { model, n: AT_ONCE });
    this.questions = found.positions;
    this.rules = found.rules;
    this.number = 0;
    this.ask();
  }

  count(score) {
    this.score = score;
    keep("practice", score);
    const { asked, right, lost } = score;
    const mean = asked ? `, ${((100 * lost) / asked).toFixed(1)} points of win chance lost on average` : "";
    this.scoreLine.textContent = `Score: ${right} of ${asked} right${mean}.`;
  }

  ask() {
    const question = this.questions[this.number];
    this.isOpen = true;
    this.verdict = h("div", { class: "stack verdict-place" });
    this.buttons = question.actions.map((action, k) =>
      h(
        "button",
        { type: "button", class: "answer", "data-action": action.action, onclick: () => this.answer(action) },
        h("kbd", { "aria-hidden": "true" }, k + 1),
        actionTag(action.action, action.name),
        h("span", { class: "found" }),
      ),
    );
    this.place.replaceChildren(
      h(
        "div",
        { class: "practice" },
        h("section", { class: "panel", "aria-label": "Position" }, position(question.view, this.rules)),
        h(
          "section",
          { class: "panel stack" },
          h("h2", {}, `Question ${this.number + 1} of ${this.questions.length}: what do you play?`),
          h("div", { class: "choices" }, this.buttons),
          this.verdict,
        ),
      ),
    );
  }

  answer(action) {
    if (!this.isOpen) return;
    this.isOpen = false;
    const { actions, best, state, game, player, played } = this.questions[this.number];
    const top = actions.find((each) => each.action === best);
    const loss = Math.max(0, top.value - action.value);
    const isRight = action.action === best || loss < 0.0005;
    for (const [k, button] of this.buttons.entries()) {
      const each = actions[k];
      button.disabled = true;
      button.classList.toggle("right", each.action === best);
      button.classList.toggle("mine", each === action);
      button.querySelector(".found").replaceChildren(h("span", { class: "bar", vars: { share: `${100 * each.value}%` } }), h("span", { class: "number" }, percent(each.value)));
    }
    const words = isRight
      ? `Right: ${top.name} wins ${percent(top.value)}.`
      : `${top.name} wins ${percent(top.value)}, ${action.name} ${percent(action.value)}: ${(100 * loss).toFixed(1)} points less.`;
    const { asked, right, lost } = this.score;
    this.count({ asked: asked + 1, right: right + Number(isRight), lost: lost + loss });
    const next = h("button", { type: "button", class: "main next", onclick: () => this.next() }, "Next question");
    this.verdict.replaceChildren(
      h("p", { class: isRight ? "verdict good" : "verdict bad" }, isRight ? "✓ " : "✗ ", words),
      player && h("p", { class: "quiet" }, `${player} played ${actions.find((each) => each.action === played)?.name ?? "something else"} here.`),
      h("div", { class: "row" }, next, h("a", { href: `#/explore/${this.model}/${state}` }, "Why?"), game && h("a", { href: `#/review/${game}` }, "The game it is from")),
    );
    announce(words);
    next.focus();
  }

  next() {
    this.number += 1;
    if (this.number < this.questions.length) this.ask();
    else this.begin(this.model);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (this.isOpen && /^[1-9]$/.test(event.key)) this.buttons[Number(event.key) - 1]?.click();
  }
}
