/** Puzzle of the day: one position, the same for everybody on the same day in UTC, and a streak of right answers. */

import { get, judgesHere, post } from "./api.js";
import { complain, counted, h, percent } from "./dom.js";
import { keep, nameHere, recall } from "./memory.js";
import { Quiz } from "./practice.js";

// The last first answer of a day, as an action. Its day is an ISO date.
const NEVER = { day: null, streak: 0 };
const DAY = 86_400_000; // milliseconds

/** Return the number of days from one ISO date to another. */
const daysBetween = (before, after) => (Date.parse(after) - Date.parse(before)) / DAY;

/** Return the time until the next puzzle in words, such as "5 h". */
function waitingTime() {
  const minutes = Math.ceil((DAY - (Date.now() % DAY)) / 60_000);
  return minutes > 90 ? `${Math.round(minutes / 60)} h` : `${minutes} min`;
}

const today = () => new Date().toISOString().slice(0, 10);

/** Return true if the user has answered today's puzzle. */
export const hasAnswered = () => recall("puzzle", NEVER).day === today();

/** Return the number of successive days with a right answer, up to `now` or the day before it. */
export function streakOn(now = today()) {
  const { day, streak } = recall("puzzle", NEVER);
  return daysBetween(day, now) <= 1 ? streak : 0;
}

/** Describe a player's rating for puzzles, which the server hides until the tenth answer. */
export function ratingWords({ answers, rating, rating_margin: margin }) {
  if (rating === null) return answers > 0 && `Puzzle rating: after ten puzzles (${answers} of 10 answered).`;
  return `Puzzle rating: ${Math.round(rating)} ± ${Math.round(margin)} (${counted(answers, "puzzle")}).`;
}

export async function show(main, _rest, isCurrent) {
  const judges = await judgesHere(isCurrent);
  if (!isCurrent()) return null;
  const found = await get("/puzzle", { model: judges[0].digest, player: nameHere() });
  if (!isCurrent()) return null;
  const quiz = new Puzzle(main, judges.slice(0, 1), found);
  return () => quiz.leave();
}

class Puzzle extends Quiz {
  constructor(main, judges, found) {
    super(main, judges, { ...found, title: `Puzzle ${found.number}`, lead: `The puzzle of the day: about ${percent(1 - found.solved, 0)} of players choose badly here.` });
  }

  /** Ask, or show the first answer again. */
  ask() {
    super.ask();
    const { day, action } = recall("puzzle", NEVER);
    const first = day === this.given.day && this.questions[0].actions.find((each) => each.action === action);
    if (first) this.answer(first);
  }

  get heading() {
    return "What do you play?";
  }

  /** Show the streak and the rating instead of the score of practice rounds. */
  count() {
    const streak = streakOn(this.given.day);
    this.reset.hidden = true;
    const words = [`Your streak: ${counted(streak, "day")}.`, streak === 0 && "Each successive day with a right first answer adds one.", ratingWords(this.given.rating)];
    this.scoreLine.textContent = words.filter(Boolean).join(" ");
  }

  /** Count the first answer of the day. An old page might still show the puzzle of an earlier day. */
  answered(isRight, _loss, { action }) {
    const { day } = this.given;
    if (recall("puzzle", NEVER).day >= day) return;
    keep("puzzle", { day, streak: isRight ? streakOn(day) + 1 : 0, action });
    this.count();
    const rate = (rating) => {
      this.given.rating = rating;
      this.count();
    };
    post("/puzzle", { name: nameHere(), day, action }).then(rate, complain);
  }

  /** What is shown below the verdict. */
  after(links) {
    return [h("p", {}, `Your first answer counts. The next puzzle appears at midnight UTC, in ${waitingTime()}.`), h("div", { class: "row" }, h("a", { class: "button main", href: "#/play" }, "Play a game"), links)];
  }
}
