/** Charts as wide as their containers: win probabilities over time, and counts as columns. */

import { h, svg } from "./dom.js";

const LEFT = 44;
const BOTTOM = 30;
const TOP = 12;
const RIGHT = 12;

/** A figure that is redrawn whenever its width changes; `draw(width)` returns the elements of the drawing. */
function figure(label, height, draw, caption) {
  const drawing = svg("svg", { role: "img", "aria-label": label });
  const place = h("figure", { class: "chart" }, drawing, caption && h("figcaption", {}, caption));
  const paint = () => {
    const width = Math.max(260, place.clientWidth);
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", height);
    drawing.replaceChildren(...draw(width));
  };
  new ResizeObserver(paint).observe(place);
  return place;
}

const text = (x, y, words, css, anchor = "middle") => svg("text", { x, y, class: css, "text-anchor": anchor }, String(words));

/** Lines of win probabilities, with one point per breath.
 *
 *  series    [{name, css, points: [{number, win, isBad}]}]
 *  breaths   [{number, measure, breath}], ascending numbers
 *  now       number of the breath to highlight
 *  onpick    called with the number of a breath when it is clicked
 */
export function chances(series, breaths, label, now, onpick) {
  const height = 256;
  const last = breaths.at(-1).number;
  const draw = (width) => {
    const x = (n) => LEFT + ((n - 0.5) / last) * (width - LEFT - RIGHT);
    const bottom = height - BOTTOM - 16;
    const y = (share) => TOP + (1 - share) * (bottom - TOP);
    const wide = x(1.5) - x(0.5);
    const band = ({ number: n }) =>
      svg("rect", { class: n === now ? "band now" : "band", x: x(n - 0.5), width: wide, y: TOP, height: bottom - TOP, onclick: () => onpick(n) });
    // The first recorded breath of each measure; the word is shown only if every measure has room for it.
    const firsts = breaths.filter(({ measure }, k) => measure !== breaths[k - 1]?.measure);
    const gap = Math.min(...firsts.slice(1).map(({ number }, k) => number - firsts[k].number)) * wide;
    return [
      ...[0, 0.5, 1].flatMap((share) => [
        svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(share), y2: y(share) }),
        text(LEFT - 7, y(share) + 4, `${100 * share}%`, "tick", "end"),
      ]),
      ...breaths.map(band),
      ...breaths.filter(() => wide > 14).map(({ number, breath }) => text(x(number), bottom + 18, breath, "tick")),
      ...firsts.flatMap(({ number, measure }) => [
        svg("line", { class: "grid", x1: x(number - 0.5), x2: x(number - 0.5), y1: TOP, y2: height - 6 }),
        text(x(number - 0.5) + 5, height - 9, gap < 80 && number > 1 ? measure : `measure ${measure}`, "tick", "start"),
      ]),
      ...series.map(({ css, points }) => svg("polyline", { class: `line ${css}`, points: points.map((p) => `${x(p.number)},${y(p.win)}`).join(" ") })),
      ...series.flatMap(({ css, points }) => points.map((p) => mark(x(p.number), y(p.win), css, p.isBad))),
    ];
  };
  const legend = series.map(({ name, css }) => h("span", { class: `legend ${css}` }, name));
  return figure(label, height, draw, [legend, h("span", { class: "legend bad" }, "a costly choice")]);
}

/** A point of a series: a disc in the first series, a square in the second; a ring marks a costly choice. */
function mark(x, y, css, isBad) {
  const shape = css === "first" ? svg("circle", { cx: x, cy: y, r: 4.5 }) : svg("rect", { x: x - 4.2, y: y - 4.2, width: 8.4, height: 8.4 });
  shape.setAttribute("class", `mark ${css}`);
  return isBad ? svg("g", {}, svg("circle", { class: "ring", cx: x, cy: y, r: 9.5 }), shape) : shape;
}

/** A line of mean losses per choice over weeks, with the number of choices below each week. `weeks` is a list of
 * {week, choices, loss} in ascending order. */
export function weekly(weeks, label, caption) {
  const [height, bottom, edge] = [220, 220 - BOTTOM - 16, 30];
  const time = ({ week }) => Date.parse(week);
  const [first, last] = [time(weeks[0]), time(weeks.at(-1))];
  const most = Math.max(...weeks.map(({ loss }) => loss)) || 1;
  const y = (loss) => TOP + 14 + (1 - loss / most) * (bottom - TOP - 14);
  const dateOf = (each) => new Date(time(each)).toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
  const draw = (width) => {
    const [from, to] = [LEFT + edge, width - RIGHT - edge];
    const x = (each) => (last > first ? from + ((time(each) - first) / (last - first)) * (to - from) : (from + to) / 2);
    // Omit labels that would overlap; the last one stays.
    const named = weeks.reduceRight((kept, each) => (kept.length && x(kept[0]) - x(each) < 2 * edge ? kept : [each, ...kept]), []);
    return [
      ...[0, most].flatMap((loss) => [svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(loss), y2: y(loss) }), text(LEFT - 7, y(loss) + 4, (100 * loss).toFixed(1), "tick", "end")]),
      svg("polyline", { class: "line first", points: weeks.map((each) => `${x(each)},${y(each.loss)}`).join(" ") }),
      ...weeks.map((each) => mark(x(each), y(each.loss), "first", false)),
      ...named.flatMap((each) => [text(x(each), bottom + 18, dateOf(each), "tick"), text(x(each), bottom + 36, `n = ${each.choices}`, "tick")]),
    ];
  };
  return figure(label, height, draw, caption);
}

/** A column chart of counts; `pairs` is a list of [label, count]. */
export function columns(pairs, label, caption) {
  const height = 210;
  const most = Math.max(1, ...pairs.map(([, n]) => n));
  const draw = (width) => {
    const each = (width - 2 * RIGHT) / pairs.length;
    const step = Math.ceil(26 / each);
    const y = (n) => TOP + 10 + (1 - n / most) * (height - TOP - 10 - BOTTOM);
    return pairs.flatMap(([name, n], k) => {
      const x = RIGHT + (k + 0.5) * each;
      const wide = Math.min(42, each * 0.72);
      return [
        svg("rect", { class: "column", x: x - wide / 2, width: wide, y: y(n), height: y(0) - y(n), rx: 2 }),
        each > 22 && text(x, y(n) - 5, n, "tick"),
        k % step === 0 && text(x, height - 10, name, "tick"),
      ].filter(Boolean);
    });
  };
  return figure(label, height, draw, caption);
}
