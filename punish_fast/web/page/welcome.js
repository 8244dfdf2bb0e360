/** Start page: a duel against one of several opponents, the other games, the rules, and further options. */

import { allModels, get, pause } from "./api.js";
import { choice, complain, h, svg, title, unseen } from "./dom.js";
import { face } from "./faces.js";
import { GAMES, rendererOf } from "./games.js";
import { handForm } from "./hand.js";
import { givenName, guestName, keep, nameHere, recall } from "./memory.js";
import { hasAnswered, streakOn } from "./puzzle.js";

const PUNISH = "punish";
const STANDARD = "tabletop";
const LEVELS = ["easy", "medium", "hard", "expert"];
// Maximum number of opponents in the first form. All opponents are under More.
const MOST_OPPONENTS = 6;
// Levels of the other games, in words.
const LEVEL_WORDS = { random: "beginner", casual: "medium", "rule-of-thumb": "medium", trained: "hard", perfect: "perfect" };
// Explanations of the lowest and highest temperatures.
const LABELS = { 0.01: " (it seldom errs)", 0.5: " (it often errs)" };

// Text of a button while its game begins, and milliseconds until it is shown.
const [READY, PATIENCE] = ["Getting ready …", 300];

const [YOU, OTHER] = ["you", "other"];
// In other games, players move simultaneously, or the first player is drawn at random.
const isInTurn = (game) => Boolean(game && rendererOf(game).isInTurn);

/** Return the agents that can be played, including those that the server has not opened yet. */
export async function opponents() {
  return (await allModels()).filter(({ plays, flaw }) => plays && !flaw);
}

/** Return the stored opponent: its digest (`hash` in older versions), game and options. */
function lastOpponent() {
  const { hash, ...stored } = recall("opponent", {});
  return { digest: hash, ...stored };
}

/** Return the last settings chosen on the start page as the body of a request for a new table. */
export function lastChoice() {
  const { digest, temperature, game, seed } = lastOpponent();
  const second = isInTurn(game) && recall("begins", YOU) !== YOU;
  return { opponent: digest, temperature: temperature ? Number(temperature) : null, name: nameHere(), game, second, seed: seed || null };
}

/** Wait until the server has opened an agent, and enter its digest. Return null if the user has left the start page. */
export async function open(model, isCurrent) {
  for (;;) {
    const { digest, flaw } = (await allModels()).find(({ name, game }) => name === model.name && game === model.game);
    if (!isCurrent()) return null;
    if (flaw) throw new Error(flaw);
    if (digest) return Object.assign(model, { digest });
    await pause(300);
  }
}

/** Return the start page; it calls `deal` after the choice of an opponent has been stored, if
 * `isCurrent()` is still true. */
export function welcome(models, deal, isCurrent) {
  const start = async (model, options = {}) => {
    try {
      const opened = await open(model, isCurrent);
      if (!opened) return;
      keep("opponent", { digest: opened.digest, game: opened.game, ...options });
      await deal();
    } catch (error) {
      if (isCurrent()) complain(error);
    }
  };
  const games = Object.keys(GAMES).map((game) => models.filter((model) => model.game === game)).filter(({ length }) => length);
  const tiles = h("section", { class: "stack" }, h("h2", {}, "Other games"), h("div", { class: "game-tiles" }, games.map((players) => tile(players, start))));
  const duel = models.filter(({ game }) => game === PUNISH);
  return [...(duel.length ? [duelForm(duel, start), primer(duel[0], isCurrent), handPanel(), tiles] : [tiles]), more(models, start)];
}

/** A form whose button is disabled while `start(button)` runs, and afterwards if that returns true. If it takes long, the
 * button shows its attribute `data-busy`. */
export function form(attributes, start, ...children) {
  const onsubmit = async (event) => {
    event.preventDefault();
    const { submitter } = event;
    const words = [...submitter.childNodes];
    const busy = submitter.dataset.busy ?? READY;
    const timer = setTimeout(() => submitter.replaceChildren(busy), PATIENCE);
    submitter.disabled = true;
    submitter.disabled = (await start(submitter)) === true;
    clearTimeout(timer);
    if (submitter.textContent === busy) submitter.replaceChildren(...words);
  };
  return h("form", { ...attributes, onsubmit }, children);
}

/** One opponent of each level, agents from files, and one large button. */
function duelForm(duel, start) {
  const levels = LEVELS.map((level) => duel.find((model) => model.level === level)).filter(Boolean);
  const people = [...levels, ...duel.filter(({ name, person }) => name === person)].slice(0, MOST_OPPONENTS);
  let wanted = people.find(({ name }) => name === recall("rival", null)) ?? people[0] ?? duel[0];
  const button = h("button", { class: "main large" });
  const pick = (model) => {
    wanted = model;
    keep("rival", model.name);
    button.replaceChildren(`Play against ${model.person}`);
  };
  const person = (model) =>
    h(
      "label",
      { class: "opponent" },
      h("input", { type: "radio", name: "level", checked: model === wanted, onchange: () => pick(model) }),
      face(model.name),
      h("span", { class: "stack small" }, h("span", { class: "opponent-name" }, `${model.person} `, model.level && h("span", { class: "status" }, model.level)), [model.about ?? "an agent from a file", model.strength].filter(Boolean).map((text) => h("span", { class: "quiet" }, `${text[0].toUpperCase()}${text.slice(1)}.`))),
    );
  const name = h("input", { value: givenName() ?? "", placeholder: guestName(), maxlength: 60, autocomplete: "nickname", onchange: () => keep("name", name.value.trim() || null) });
  const choices = h("fieldset", { class: "opponents" }, h("legend", { class: "sr" }, "Your opponent"), people.map(person));
  pick(wanted);
  const isFirst = ["name", "puzzle", "practice", "opponent"].every((key) => recall(key, null) === null);
  const lesson = h("a", { class: isFirst ? "button" : "button large", href: "#/learn" }, "Learn in a minute");
  return h(
    "section",
    { class: "panel start" },
    title(...rendererOf(PUNISH).title),
    h("p", { class: "hello" }, isFirst ? ["New here?", lesson] : greeting(duel[0].rules === STANDARD)),
    form({ class: "stack" }, () => start(wanted), choices, h("div", { class: "row" }, h("label", { class: "field" }, h("span", {}, "Your name in the records"), name), button, !isFirst && lesson, h("a", { class: "button large", href: "#/friend" }, "Play with a friend"), duel[0].rules === STANDARD && puzzleLink(), h("a", { class: "button large", href: "#/hand" }, "What do I play?"))),
  );
}

/** What somebody who was here before may do today: the puzzle, the last game and the habits. */
function greeting(hasPuzzle) {
  const streak = streakOn();
  const state = hasAnswered() ? "today's puzzle is answered" : "today's puzzle is open";
  const more = h("span");
  const link = ({ game, persons, winner }) => h("a", { href: `#/review/${game}` }, `review your last game against ${persons[Number(winner === nameHere())]}`);
  const fill = ([last]) => last && more.replaceChildren(link(last), h("a", { href: "#/you" }, "practice your habits"));
  // The server refuses to list the games of an unknown player.
  const last = (players) => players.some(({ name }) => name === nameHere()) && get("/games", { player: nameHere(), limit: 1 }).then(fill);
  get("/players").then(last).catch(() => {});
  return [h("strong", {}, givenName() ? `Hello ${givenName()}:` : "Hello:"), hasPuzzle && [h("a", { href: "#/puzzle" }, state), streak > 0 && h("span", { class: "status" }, `streak ${streak}`)], more];
}

/** A form that asks what to play with a hand. */
const handPanel = () => h("section", { class: "panel stack" }, h("h2", {}, "What do I play with this hand?"), handForm());

/** A link to the puzzle of the day, with the streak of right answers. */
function puzzleLink() {
  const streak = streakOn();
  return h("a", { class: "button large", href: "#/puzzle" }, "Puzzle of the day", streak > 1 && h("span", { class: "status" }, unseen("streak of "), `${streak} days`));
}

/** Another game: its levels and a button. */
function tile(players, start) {
  const [{ game }] = players;
  const { name, sign } = GAMES[game];
  const words = ({ level, name: file }) => LEVEL_WORDS[level] ?? file;
  const index = players.findIndex((model) => words(model) === recall(`level.${game}`, "medium"));
  const level = choice("Level", players.map((model, k) => [String(k), words(model)]), String(index), (k) => keep(`level.${game}`, words(players[k])));
  return form(
    { class: "panel game-tile" },
    () => start(players[level.select.value]),
    svg("svg", { class: "sign", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: sign })),
    h("h2", {}, name),
    h("p", { class: "quiet small" }, rendererOf(game).title),
    level.field,
    h("button", {}, "Play", unseen(` ${name}`)),
  );
}

/** The rules of the duel, once its first opponent is open. */
function primer(model, isCurrent) {
  const place = h("section", { class: "panel primer", "aria-label": "Rules" }, h("p", { class: "quiet" }, "Loading the rules …"));
  const show = ({ fields }) => place.replaceChildren(...rendererOf(PUNISH).primer(fields), h("a", { class: "button", href: "#/rules" }, "Change the rules"));
  const load = async () => (await open(model, isCurrent)) && show(await get(`/models/${model.digest}/meta`));
  load().catch((error) => isCurrent() && complain(error));
  return place;
}

/** Every opponent and option. */
function more(models, start) {
  const past = lastOpponent();
  const seed = h("input", { inputmode: "numeric", pattern: "[0-9]{1,20}", placeholder: "none" });
  const field = (label, input) => h("label", { class: "field" }, h("span", {}, label), input);
  const begins = choice("Who begins", [[YOU, "you"], [OTHER, "the agent"]], recall("begins", YOU), (value) => keep("begins", value));
  const [heat, about] = [h("div"), h("p", { class: "quiet small about" })];
  let temperature = null;
  const offer = (index) => {
    const model = models[index];
    const pairs = [["", "0 (always its best move)"], ...model.temperatures.map((t) => [String(t), `${t}${LABELS[t] ?? ""}`])];
    temperature = choice("Temperature (how random it plays)", pairs, past.temperature ?? "");
    heat.replaceChildren(temperature.field);
    heat.hidden = pairs.length === 1;
    begins.field.hidden = !isInTurn(model.game);
    about.textContent = model.about ? `${model.person} ${model.about}.` : "";
  };
  const rulesOf = ({ game, rules }) => (rules === models[0].rules ? "" : game === models[0].game ? ` (rules ${rules})` : ` (${rules})`);
  const label = (model) => (model.person === model.name ? model.name : `${model.person} (${model.name})`) + rulesOf(model);
  const index = Math.max(models.findIndex(({ digest }) => digest && digest === past.digest), 0);
  const opponent = choice("Opponent", models.map((model, k) => [String(k), label(model)]), String(index), offer);
  const begin = () => start(models[opponent.select.value], { temperature: temperature.select.value, seed: seed.value });
  offer(index);
  return h(
    "details",
    { class: "panel more" },
    h("summary", {}, "More"),
    form({ class: "seat-form" }, begin, opponent.field, heat, begins.field, field("Seed (same deals; not recorded)", seed), h("button", { class: "main" }, "Start the game")),
    about,
    h("p", { class: "quiet small" }, "For house rules and agents of your own, start the server with them: ", h("code", {}, "punish-fast serve --rules house.toml agent.h5")),
  );
}
