/** Faces of opponents, drawn in a square of side 64. */

import { svg } from "./dom.js";

const CALM = "M24 25q3-2 5.5 0M34.5 25q3-2 5.5 0";
const LOOKS = {
  careful: ["#00639C", "#f2c9a1", "#5b3a1e", "M17 40V27a15 15 0 0 1 30 0v13c-3-1-4-5-4-11-6 0-11-2-14-6-2 3-5 5-8 6 0 6-1 10-4 11z", `${CALM}M28 38q4 3.5 8 0M22.4 29.5a4.4 4.4 0 0 0 8.8 0a4.4 4.4 0 0 0-8.8 0M32.8 29.5a4.4 4.4 0 0 0 8.8 0a4.4 4.4 0 0 0-8.8 0`],
  aggressive: ["#D55E00", "#d9a273", "#2b1a12", "M18 27l1-11 5 4 3-8 5 6 5-6 3 8 5-4 1 11c-4-4-8-5-14-5s-10 1-14 5z", "M23 24l6.5 3M41 24l-6.5 3M27 38h10q-1 5-5 5t-5-5z"],
  veteran: ["#3D0F3A", "#e6b98f", "#aeb2ba", "M18 28c0-9 6-14 14-14s14 5 14 14c-3-3-5-6-6-8-5 2-11 2-16 0-1 2-3 5-6 8zM19 31c0 12 6 18 13 18s13-6 13-18c-3 4-6 5-8 4.5-3-1-7-1-10 0-2 .5-5-.5-8-4.5z", `${CALM}M29 40.5h6`],
  naive: ["#33B08A", "#f6d3b3", "#c98f2c", "M18 29c-1-11 6-16 14-16s15 5 14 16c-3-2-4-4-5-7-6 2-13 2-18 0-1 3-2 5-5 7z", `${CALM}M28 38q4 3.5 8 0`],
};

/** The face of a built-in agent, by its identifier; other agents have the same face as `naive`. */
export function face(name) {
  const [shirt, skin, hair, cut, lines] = LOOKS[name] ?? LOOKS.naive;
  const shape = (d, fill) => svg("path", { d, fill });
  return svg(
    "svg",
    { class: "face", viewBox: "0 0 64 64", "aria-hidden": "true" },
    svg("circle", { cx: 32, cy: 32, r: 32, fill: shirt, opacity: 0.22 }),
    shape("M9 54.4c3-8 12-10 23-10s20 2 23 10a32 32 0 0 1-46 0z", shirt),
    shape("M19 30a13 15 0 0 1 26 0q0 9-8 13.5V47q-5 4-10 0v-3.5Q19 39 19 30z", skin),
    shape(cut, hair),
    shape("M25 29.5a1.8 1.8 0 0 0 3.6 0a1.8 1.8 0 0 0-3.6 0M35.4 29.5a1.8 1.8 0 0 0 3.6 0a1.8 1.8 0 0 0-3.6 0", "#22160a"),
    svg("path", { d: lines, fill: "none", stroke: "#22160a", "stroke-width": 1.6, "stroke-linecap": "round" }),
  );
}
