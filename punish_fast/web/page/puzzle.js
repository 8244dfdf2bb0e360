/** Puzzle of the day: one position, the same for everybody on the same day in UTC, and a streak of right answers. */

import { get, judgesHere } from "./api.js";
import { counted, h } from "./dom.js";
import { keep, recall } from "./memory.js";
import { Quiz } from "./practice.js";

// The last answer. Its day is an ISO date.
const NEVER = { day: null, streak: 0 };
const DAY = 86_400_000; // milliseconds

/** Return the number of days from one ISO date to another. */
const daysBetween = (before, after) => (Date.parse(after) - Date.parse(before)) / DAY;

/** Return the number of successive days with a right answer, up to `today` or the day before it. */
export function streakOn(today = new Date().toISOString().slice(0, 10)) {
  const { day, streak } = recall("puzzle", NEVER);
  return daysBetween(day, today) <= 1 ? streak : 0;
}

export async function show(main, _rest, isCurrent) {
  const judges = await judgesHere(isCurrent);
  if (!isCurrent()) return null;
  const found = await get("/puzzle", { model: judges[0].digest });
  if (!isCurrent()) return null;
  const quiz = new Puzzle(main, judges.slice(0, 1), found);
  return () => quiz.leave();
}

class Puzzle extends Quiz {
  constructor(main, judges, found) {
    super(main, judges, { ...found, title: `Puzzle ${found.number}`, lead: "The puzzle of the day: most players choose badly here." });
  }

  get heading() {
    return "What do you play?";
  }

  /** Show the streak instead of the score of practice rounds. */
  count() {
    const streak = streakOn(this.given.day);
    this.reset.hidden = true;
    this.scoreLine.textContent = streak ? `Your streak: ${counted(streak, "day")}.` : "";
  }

  /** Count the first answer of the day. An old page might still show the puzzle of an earlier day. */
  answered(isRight) {
    const { day } = this.given;
    if (recall("puzzle", NEVER).day >= day) return;
    keep("puzzle", { day, streak: isRight ? streakOn(day) + 1 : 0 });
    this.count();
  }

  /** What is shown below the verdict. */
  after(links) {
    return [h("p", {}, "The next puzzle appears at midnight UTC."), h("div", { class: "row" }, h("a", { class: "button main", href: "#/play" }, "Play a game"), links)];
  }
}
