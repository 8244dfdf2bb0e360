/** You page: a person's results, costly habits and worst positions, and a quiz with these positions. */

import { get, judgesHere } from "./api.js";
import { weekly } from "./chart.js";
import { breakable, choice, counted, h, percent, tableHead, title } from "./dom.js";
import { nameHere } from "./memory.js";
import { Quiz, gameLink, mistake, points } from "./practice.js";
import { ratingWords, streakOn } from "./puzzle.js";

// Minimum share for a play of the reference player to be listed.
const LEAST_SHARE = 0.05;

const panel = (heading, ...parts) => h("section", { class: "panel stack" }, h("h2", {}, heading), parts);

export async function show(main, [wanted], isCurrent) {
  const judges = await judgesHere(isCurrent);
  const people = (await get("/players")).filter((player) => !player.is_bot).map(({ name }) => name);
  const name = wanted ?? people.find((each) => each === nameHere());
  if (name && !people.includes(name)) throw new Error(`There are no games of ${name.slice(0, 40)}.`);
  const answer = name && (await get("/improve", { model: judges[0].digest, player: name }));
  const found = answer && { ...answer, judge: judges[0].digest, reference: judges[0].person };
  if (!isCurrent()) return null;
  let quiz = null;
  const practice = (positions, lead) => {
    quiz = new Quiz(main, judges, { ...found, positions, lead });
    // The address stays the same, so the link itself changes nothing.
    main.prepend(h("div", { class: "row back-row" }, h("a", { href: location.hash, onclick: () => dispatchEvent(new Event("hashchange")) }, "← Back to You")));
  };
  const who = choice("Player", [...(name ? [] : [["", "choose a player"]]), ...people.map((each) => [each, each])], name ?? "", (each) => (location.hash = `#/you/${encodeURIComponent(each)}`));
  const lead = found ? `${name}: ${results(found)} Each move is compared with the best move against the judge; ${found.reference} would lose ${points(found.reference_loss)} points per game in these positions.` : ["No games of yours yet.", streakWords(), `Finish one on the Play page${people.length ? ", or choose your name" : ", and come back"}.`].filter(Boolean).join(" ");
  const isChoice = people.length > Number(Boolean(name));
  main.replaceChildren(title("You", lead), h("div", { class: "stack" }, isChoice && h("div", { class: "row" }, who.field), found && report(found, name, practice)));
  return () => quiz?.leave();
}

const streakWords = () => streakOn() > 0 && `Your puzzle streak: ${counted(streakOn(), "day")}.`;

const results = ({ player, games, win_rate: won, loss, reference, rating, rating_margin: margin, puzzles }) =>
  [
    `${counted(games, "game")}, ${percent(won, 0)} won, ${points(loss)} points of win probability lost per game, judged by ${reference}.`,
    rating !== null && `Game rating: ${Math.round(rating)} ± ${Math.round(margin)} (0 is the mean of all players here).`,
    player === nameHere() && streakWords(),
    ratingWords(puzzles),
    puzzles.rating !== null && "Here, 0 is a typical player.",
  ].filter(Boolean).join(" ");

function report(found, name, practice) {
  const { judge, reference, habits, opponents, trend, weeks, positions } = found;
  const lost = `points lost per game, judged by ${reference}`;
  const plays = ({ instead }) => Object.entries(instead).filter(([, share]) => share >= LEAST_SHARE).sort((a, b) => b[1] - a[1]).map(([play, share]) => `${play} ${percent(share, 0)}`).join(", ");
  const habit = (each) =>
    h("li", {}, h("p", {}, `${habitWords(each, name, reference)} `, practiceLink(each)), h("details", {}, h("summary", {}, "More"), `In ${percent(each.share, 0)} of ${each.of} choices, ${reference} in ${percent(each.reference_share, 0)}. It costs ${points(each.loss)} points each time, judged by ${reference}; the surplus costs ${points(each.cost)} per game. In these ${each.choices} positions, ${reference} would play ${plays(each)}. `, each.is_uncertain && `Chosen only ${counted(each.choices, "time")}: this might be chance.`));
  const practiceLink = (each) => each.positions.length > 0 && h("button", { type: "button", class: "plain", onclick: () => practice(each.positions, `Where ${each.play} cost you most: ${each.situation}.`) }, "Practice this");
  const position = (each) => mistake(each, each.played, "Played:", reference, gameLink(each.game, judge, each.state));
  return [
    panel("Habits that cost most", habits.length ? h("ol", { class: "lessons" }, habits.map(habit)) : h("p", { class: "quiet" }, "None stands out yet.")),
    positions.length > 0 && panel("Worst positions", h("ol", { class: "lessons" }, positions.map(position)), h("div", { class: "row" }, h("button", { type: "button", class: "main", onclick: () => practice(positions, "Your costliest choices.") }, "Practice these positions"))),
    weeks.length > 0 && panel("Week by week", weekly(weeks, weeksLabel(weeks), `Points of win probability lost per choice in each week, judged by ${reference}, and number of choices n.`)),
    h(
      "div",
      { class: "halves" },
      panel("Opponents", table(["opponent", "games", "won", lost], opponents.map((each) => [each.person, each.games, each]))),
      panel("Trend", table(["games", "won", lost], trend.map((each) => [`${each.first}–${each.last}`, each]))),
    ),
  ];
}

/** Describe a habit of a player in one sentence. */
function habitWords({ situation, play, share, reference_share: usual }, name, reference) {
  const where = situation === "always" ? "In general" : `${/^the /.test(situation) ? "When" : /^breath/.test(situation) ? "In" : "With"} ${situation}`;
  const [does, who] = name === nameHere() ? [`you ${play}`, "you"] : [`${name} chooses ${play}`, name];
  return `${where}${situation === "always" ? "," : ""} ${does} too often: ${reference} ${percent(usual, 0)}, ${who} ${percent(share, 0)}.`;
}

/** The numbers of the chart as a text. */
const weeksLabel = (weeks) => `Points lost per choice: ${weeks.map(({ week, loss, choices }) => `${points(loss)} in the week of ${week} (${counted(choices, "choice")})`).join(", ")}`;

/** A table whose rows end with the share of games won and the points lost per game. */
function table(labels, rows) {
  const cells = (row) => [...row.slice(1, -1), percent(row.at(-1).win_rate, 0), points(row.at(-1).loss)].map((text) => h("td", { class: "number" }, text));
  return h("table", {}, tableHead(labels, [1, 2, 3]), h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row", class: "who" }, breakable(row[0])), cells(row)))));
}
