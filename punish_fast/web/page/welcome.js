/** Form shown before a game: the opponent, and an introduction to the game. */

import { areAllOpen, get, modelsThat, pause } from "./api.js";
import { choice, complain, h, title } from "./dom.js";
import { rendererOf } from "./games.js";
import { keep, recall } from "./memory.js";

// Explanations of the lowest and highest temperatures.
const LABELS = { 0.01: " (it seldom errs)", 0.5: " (it often errs)" };

const [YOU, OTHER] = ["you", "other"];
// Only Punish is recorded under the person's name, and only agents of Punish have temperatures.
const isKept = (game) => Boolean(rendererOf(game).isKept);
// In other games, players move simultaneously, or the first player is drawn at random.
const isInTurn = (game) => Boolean(game && rendererOf(game).isInTurn);

/** Return the open agents that can be played. */
export function opponents(isWanted) {
  return modelsThat("plays", isWanted);
}

/** Return the last settings chosen in the form as the body of a request for a new table. */
export function lastChoice() {
  const { hash, temperature, game } = recall("opponent", {});
  const second = isInTurn(game) && recall("begins", YOU) !== YOU;
  return { opponent: hash, temperature: temperature ? Number(temperature) : null, name: recall("name", "you"), game, second };
}

/** Return the form and a short introduction; the form calls `deal` when it is submitted. */
export function welcome(models, deal) {
  const wanted = recall("opponent", {});
  const find = (hash) => models.find((each) => each.hash === hash);
  const name = h("input", { value: recall("name", "you"), maxlength: 60, required: true, autocomplete: "nickname" });
  const named = h("label", { class: "field" }, h("span", {}, "Your name in the records"), name);
  const begins = choice("Who begins", [[YOU, "you"], [OTHER, "the agent"]], recall("begins", YOU));
  const [heading, heat] = [h("div"), h("div")];
  const [about, rules] = [h("p", { class: "quiet small about" }), h("section", { class: "panel primer" })];
  let temperature = null;
  const offer = (hash) => {
    const model = find(hash);
    heading.replaceChildren(title(...rendererOf(model.game).title));
    named.hidden = heat.hidden = name.disabled = !isKept(model.game);
    begins.field.hidden = !isInTurn(model.game);
    temperature = temperatures(model, wanted.temperature);
    heat.replaceChildren(temperature.field);
    about.textContent = model.about ? `${model.name} ${model.about}.` : "";
    get(`/models/${hash}/meta`).then(({ fields }) => {
      if (opponent.select.value === hash) rules.replaceChildren(...rendererOf(model.game).primer(fields));
    });
  };
  const rulesOf = ({ game, rules: name }) => (name === models[0].rules ? "" : game === models[0].game ? ` (rules ${name})` : ` (${name})`);
  const label = (model) => model.name + rulesOf(model);
  const opponent = choice("Opponent", models.map((model) => [model.hash, label(model)]), find(wanted.hash)?.hash ?? models[0].hash, offer);
  const addMore = async () => {
    while (opponent.select.isConnected && !areAllOpen()) {
      await pause(500);
      const more = (await opponents()).filter(({ hash }) => !find(hash));
      models.push(...more);
      opponent.select.append(...more.map((model) => h("option", { value: model.hash }, label(model))));
    }
  };
  const onsubmit = (event) => {
    event.preventDefault();
    keep("name", name.value.trim() || "you");
    keep("begins", begins.select.value);
    const { hash, game } = find(opponent.select.value);
    keep("opponent", { hash, game, temperature: temperature.select.value });
    deal();
  };
  offer(opponent.select.value);
  setTimeout(() => addMore().catch(complain));
  return [
    h(
      "section",
      { class: "panel" },
      heading,
      h(
        "form",
        { class: "seat-form", onsubmit },
        opponent.field,
        heat,
        named,
        begins.field,
        h("button", { class: "main" }, "Start the game"),
      ),
      about,
      h("p", {}, h("a", { href: "#/friend" }, "Play with a friend")),
    ),
    rules,
  ];
}

function temperatures(model, past) {
  const known = model.temperatures ?? [];
  const none = known.length ? "0 (always its best move)" : "none (it mixes its moves)";
  const pairs = [["", none], ...known.map((t) => [String(t), `${t}${LABELS[t] ?? ""}`])];
  const made = choice("Temperature (how random it plays)", pairs, pairs.some(([value]) => value === past) ? past : "");
  made.select.disabled = !known.length;
  return made;
}
