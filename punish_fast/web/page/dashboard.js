/** Dashboard page: statistics and plots of recorded games. */

import { get } from "./api.js";
import { columns } from "./chart.js";
import { breakable, h, percent, title } from "./dom.js";

// Minimum number of games for plots and of players for the correlation; with fewer, both show mostly noise.
const FEWEST_TO_PLOT = 10;
// Plots that need the whole width, because they have a panel for each player.
const PANELS = ["durations", "over-time"];
// Maximum difference of lengths in a chart with a column for every length.
const MOST_COLUMNS = 40;
// Win and loss, which the number of all states includes, but which nobody sees as a position.
const N_ENDS = 2;

export async function show(main, _rest, isCurrent) {
  const found = await get("/dashboard");
  if (!isCurrent()) return null;
  main.replaceChildren(title("Dashboard", "All recorded games of this database."), found.games ? body(found) : nothing());
  return null;
}

const nothing = () => h("section", { class: "panel" }, h("p", {}, "No games yet. Finish one on the Play page, and it is counted here."));

function body(found) {
  const { durations } = found;
  return h(
    "div",
    { class: "stack" },
    h(
      "dl",
      { class: "tiles" },
      tile("games", found.games.toLocaleString()),
      tile("breaths per game, on average", durations.mean.toFixed(1)),
      tile("breaths in the longest game", durations.longest),
      tile("positions seen", found.distinct_states.toLocaleString(), `of ${(found.states_in_all - N_ENDS).toLocaleString()}`),
    ),
    h(
      "div",
      { class: "halves" },
      h("section", { class: "panel" }, h("h2", {}, "Who wins"), players(found.players)),
      h(
        "section",
        { class: "panel" },
        h("h2", {}, "How long games last"),
        columns(withGaps(durations.counts), `Games by number of breaths; the median is ${durations.median}`, "Games by number of breaths"),
        found.players.length >= FEWEST_TO_PLOT && correlation(found.correlation),
      ),
    ),
    found.games < FEWEST_TO_PLOT ? found.plots.length > 0 && h("p", { class: "quiet" }, "Play more games to see plots.") : h("div", { class: "plots" }, found.plots.map(plot)),
  );
}

/** Return [length, number of games] pairs, including lengths without games unless there are too many lengths. */
function withGaps(counts) {
  const lengths = Object.keys(counts).map(Number);
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  if (longest - shortest > MOST_COLUMNS) return Object.entries(counts);
  return Array.from({ length: longest - shortest + 1 }, (_, k) => [String(shortest + k), counts[shortest + k] ?? 0]);
}

const tile = (label, value, more) => h("div", { class: "panel tile" }, h("dt", {}, label), h("dd", {}, String(value), more && h("span", { class: "quiet" }, ` ${more}`)));

function players(list) {
  const row = (player) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "who" }, breakable(player.person), player.is_bot && h("span", { class: "status" }, "bot")),
      h("td", { class: "number" }, player.games),
      h("td", { class: "rate" }, h("span", { class: "bar", vars: { share: `${100 * player.win_rate}%` } })),
      h("td", { class: "number" }, percent(player.win_rate)),
    );
  return h(
    "div",
    { class: "wide" },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "player"), h("th", { scope: "col", class: "number" }, "games"), h("th", { scope: "col", class: "number", colspan: 2 }, "won"))), h("tbody", {}, list.map(row))),
  );
}

function correlation({ linear }) {
  if (linear === null) return null;
  return h("p", { class: "quiet small" }, `Correlation between games played and games won: ${linear.toFixed(2).replace("-", "−")}.`);
}

function plot({ name, title: words }) {
  const image = h("img", { src: `plots/${name}.svg`, alt: words, loading: "lazy" });
  const css = PANELS.includes(name) ? "panel plot panels" : "panel plot";
  const place = h("figure", { class: css, tabindex: "0", role: "region", "aria-label": words }, image);
  image.addEventListener("error", () => place.remove());
  return place;
}
