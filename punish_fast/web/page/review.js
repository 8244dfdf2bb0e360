/** Review page: the list of recorded games, or all choices of one game. */

import { allModels, get, judgesHere } from "./api.js";
import { position } from "./board.js";
import { actionTag, tag } from "./cards.js";
import { chances } from "./chart.js";
import { breakable, choice, counted, h, percent, tableHead, title } from "./dom.js";
import { copyButton } from "./share.js";

const PAGE = 40;
// Loss of win probability from which a choice is marked as costly.
const COSTLY = 0.05;
// Smaller losses are rounding errors, as for the judge.
const LEAST = 0.0005;

export async function show(main, [game, ...at], isCurrent) {
  if (game) return showGame(main, game, at, isCurrent);
  return showList(main, isCurrent);
}

/** Format the time at which a game ended, given in Unix seconds. */
const dateOf = (played) => new Date(1000 * played).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

async function showList(main, isCurrent) {
  const players = await get("/players");
  if (!isCurrent()) return null;
  const rows = h("tbody");
  const older = h("button", { type: "button", hidden: true }, "Older games");
  const none = h("p", { class: "quiet", hidden: true }, "No games yet. Finish one on the Play page, and it is listed here.");
  let [player, turn] = ["", 0];
  const add = async (before) => {
    const mine = ++turn;
    const games = await get("/games", { player, limit: PAGE, before });
    if (mine !== turn) return;
    if (!before) rows.replaceChildren();
    rows.append(...games.map(gameRow));
    older.hidden = games.length < PAGE;
    older.onclick = () => add(games.at(-1).game);
    none.hidden = rows.childElementCount > 0;
  };
  const pairs = [["", "everybody"], ...players.map(({ name, person, games }) => [name, `${person} (${counted(games, "game")})`])];
  const filter = choice("Games of", pairs, "", (name) => {
    player = name;
    return add();
  });
  main.replaceChildren(
    title("Review", "The recorded games of Punish. Open one to see the chance of winning over time, and the most costly choices."),
    h(
      "section",
      { class: "panel stack" },
      h("div", { class: "row" }, filter.field),
      h(
        "div",
        { class: "wide" },
        h("table", { class: "games" }, tableHead(["ended", "winner", "loser", "breaths"], [3]), rows),
      ),
      none,
      h("div", { class: "row" }, older),
    ),
  );
  await add();
  return null;
}

function gameRow({ game, played, persons: [winner, loser], breaths }) {
  const link = h("a", { href: `#/review/${game}` }, dateOf(played));
  return h("tr", {}, h("td", {}, link), h("td", { class: "who" }, breakable(winner)), h("td", { class: "who" }, breakable(loser)), h("td", { class: "number" }, breaths));
}

/** Show a game, judged by the agent with digest `wanted` and opened at the choice in `state`, if given. */
async function showGame(main, game, [wanted, state], isCurrent) {
  if (!/^\d{1,16}$/.test(game)) throw new Error(`${game.slice(0, 40)} is not the id of a game.`);
  const judges = await judgesHere(isCurrent);
  const isPerson = await people();
  if (!isCurrent()) return null;
  const first = (judges.find(({ digest }) => digest === wanted) ?? judges[0]).digest;
  const body = h("div", { class: "stack" }, h("p", { class: "quiet" }, "Judging every choice …"));
  let turn = 0;
  const load = async (model) => {
    const mine = ++turn;
    try {
      const found = await get(`/games/${game}/review`, { model });
      const { person } = judges.find(({ digest }) => digest === model);
      if (isCurrent() && mine === turn) body.replaceChildren(...new Story({ ...found, judge: person }, isPerson, state).parts);
    } catch (error) {
      if (mine === turn) body.replaceChildren(h("p", { class: "bad", role: "alert" }, error.message));
    }
  };
  const pairs = judges.map(({ digest, person }) => [digest, person]);
  const judge = choice("Judged by", pairs, first, load);
  main.replaceChildren(h("div", { class: "row back-row" }, h("a", { href: "#/review" }, "← All games"), copyButton(`links/games/${game}`), judges.length > 1 && judge.field), body);
  await load(first);
  const onKey = (event) => {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight") body.querySelector(".next")?.click();
    if (event.key === "ArrowLeft") body.querySelector(".previous")?.click();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/** Return a predicate for names of people, as opposed to recorded bots and agents of this server. */
async function people() {
  const [players, models] = await Promise.all([get("/players"), allModels()]);
  const bots = new Set([...players.filter((player) => player.is_bot), ...models].map(({ name }) => name));
  return (name) => !bots.has(name) && !bots.has(name.split("@")[0]);
}

/** Review of a game: a chart, the worst choices, a table of all choices, and one breath in detail. */
class Story {
  constructor(review, isPerson, state) {
    this.review = review;
    // List people first, because they read the review.
    this.players = [...review.players].sort((a, b) => isPerson(b.name) - isPerson(a.name));
    this.readers = this.players.filter(({ name }) => isPerson(name));
    this.rows = [];
    this.breaths = [...new Map(this.players.flatMap(({ choices }) => choices.map((each) => [each.number, each]))).values()].sort((a, b) => a.number - b.number);
    this.last = this.breaths.at(-1).number;
    this.number = 1;
    this.chart = h("div");
    this.breathPlace = h("div", { class: "stack" });
    const [winner, loser] = review.players;
    this.parts = [
      title(`${winner.person} beat ${loser.person}`, `${dateOf(review.played)}, ${counted(this.last, "breath")}.`),
      h(
        "div",
        { class: "review" },
        h(
          "div",
          { class: "stack" },
          h("section", { class: "panel timeline" }, h("h2", {}, "Each player's chance of winning, from what they could see"), this.chart, h("p", { class: "quiet small" }, `Judged by ${review.judge}: each chance assumes the best moves from there on${review.enemy ? ` against an enemy that plays like ${review.enemy}` : ""}, so the two need not add up to 100%.`)),
          h("section", { class: "panel" }, h("h2", {}, `Worst choices, judged by ${review.judge}`), h("div", { class: "stack worst" }, this.players.map((side) => this.worst(side)))),
          h("section", { class: "panel" }, h("h2", {}, `All choices, judged by ${review.judge}`), h("div", { class: "stack" }, this.players.map((side) => this.table(side)))),
        ),
        h("section", { class: "panel breath", "aria-label": "One breath" }, this.breathPlace),
      ),
    ];
    this.go(this.players.flatMap(({ choices }) => choices).find((each) => each.state === state)?.number ?? this.worstNumber());
  }

  /** Return the number of the people's costliest choice, or of the agents' if no person played; 1 if none is costly. */
  worstNumber() {
    const sides = this.readers.length ? this.readers : this.players;
    const [worst] = sides.flatMap(({ choices }) => choices).sort((a, b) => (b.loss ?? 0) - (a.loss ?? 0));
    return worst?.loss ? worst.number : 1;
  }

  go(number) {
    this.number = Math.min(this.last, Math.max(1, number));
    const series = this.players.map(({ person, choices }, k) => ({
      name: person,
      css: ["first", "second"][k],
      points: choices.map((each) => ({ number: each.number, win: each.win_probability, isBad: (each.loss ?? 0) >= COSTLY })),
    }));
    const label = `Chance of winning over ${counted(this.last, "breath")}; the numbers are in the table of all choices`;
    this.chart.replaceChildren(chances(series, this.breaths, label, this.number, (n) => this.go(n)));
    this.drawBreath();
    for (const row of this.rows) row.classList.toggle("now", row.dataset.number === String(this.number));
  }

  choicesNow() {
    return this.players.map(({ choices }) => choices.find(({ number }) => number === this.number));
  }

  drawBreath() {
    const step = (text, css, by) =>
      h("button", { type: "button", class: css, disabled: this.number + by < 1 || this.number + by > this.last, onclick: () => this.step(css, by) }, text);
    const now = this.breaths.find(({ number }) => number === this.number);
    this.breathPlace.replaceChildren(
      h("div", { class: "row stepping" }, step("← Earlier", "previous", -1), h("h2", {}, now && whenOf(now)), step("Later →", "next", 1)),
      ...this.choicesNow().map((each, k) => each && this.choiceOf(each, this.players[k].person, this.players[1 - k].person)),
    );
  }

  step(css, by) {
    this.go(this.number + by);
    this.breathPlace.querySelector(`.${css}`).focus();
  }

  choiceOf(each, name, other) {
    const cost = each.loss ?? 0;
    return h(
      "article",
      { class: "choice stack" },
      h("h3", {}, h("span", {}, `${name}: `), actionTag(each.action, each.name)),
      h("p", { class: cost >= COSTLY ? "bad" : "quiet" }, each.words),
      h("details", { open: cost >= COSTLY }, h("summary", {}, `What ${name} saw`), position(each.view, this.review.rules, name, other)),
    );
  }

  worst(side) {
    const lost = `${side.person} lost ${(100 * side.loss).toFixed(1)} points of win probability in all, judged by ${this.review.judge}.`;
    return h(
      "div",
      {},
      h("h3", {}, side.person),
      h("p", { class: "quiet" }, lost),
      h("ul", {}, side.worst.map(({ number, words }) => h("li", {}, words, " ", h("button", { type: "button", class: "plain", onclick: () => this.go(number) }, "Look")))),
    );
  }

  /** Table of one player's choices. */
  table({ person, choices }) {
    const head = ["measure, breath", "played", "its chance", "best", "its chance", "lost"];
    const row = (each) =>
      h(
        "tr",
        { "data-number": each.number },
        h("th", { scope: "row" }, h("button", { type: "button", class: "plain", onclick: () => this.go(each.number), "aria-label": whenOf(each) }, `${each.measure}, ${each.breath}`)),
        h("td", {}, actionTag(each.action, each.name)),
        h("td", { class: "number" }, each.loss === null ? "" : percent(each.win_probability - each.loss)),
        h("td", {}, tag(each.best.split(" ").at(-1), each.best)),
        h("td", { class: "number" }, percent(each.win_probability)),
        h("td", { class: (each.loss ?? 0) >= COSTLY ? "number bad" : "number" }, each.loss >= LEAST ? (100 * each.loss).toFixed(1) : ""),
      );
    const rows = choices.map(row);
    this.rows.push(...rows);
    return h(
      "div",
      {},
      h("h3", {}, person),
      h(
        "div",
        { class: "wide", tabindex: "0", role: "region", "aria-label": `Choices of ${person}` },
        h("table", { class: "choices-table" }, tableHead(head, [2, 4, 5]), h("tbody", {}, rows)),
      ),
    );
  }
}

const whenOf = ({ measure, breath }) => `Measure\u00a0${measure}, breath\u00a0${breath}`;
