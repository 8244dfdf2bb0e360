/** Page for a game between two people: create an invitation link, accept an invitation, and play. */

import { ApiError, GONE, get, modelsThat, pause, post, remove } from "./api.js";
import { calm, choice, complain, h, title } from "./dom.js";
import { rendererOf } from "./games.js";
import { keyOf } from "./keys.js";
import { givenName, keep, recall } from "./memory.js";
import { SEAT, Seat } from "./play.js";
import { copyButton, isLocal } from "./share.js";
import { form } from "./welcome.js";

// Without a clock, people have ten minutes for each move.
const CLOCKS = [["600", "no clock"], ["120", "2 minutes"], ["60", "1 minute"], ["30", "30 seconds"]];
// Milliseconds to wait before retrying a failed request.
const RETRY = 2000;
// Reasons why there is no game, by HTTP status of the response.
const REASONS = {
  [GONE]: "This game is gone: it has ended, or the server was restarted. A game that was not finished is not recorded.",
  409: "Both seats at this table are taken, and only two people can play.",
  422: "This link is not complete. Ask your friend to send it again.",
};

const LOST = new ApiError(0, "The connection is lost; the page tries to reach the server again.");

const keyOfSeat = (invitation) => `friend.${invitation}`;

export async function show(main, [invitation], isCurrent) {
  const mine = invitation && recall(keyOfSeat(invitation), null);
  let seat = null;
  try {
    const [found] = mine ? [await get(`/tables/${mine}`)] : invitation ? [await get(`/tables/invitations/${invitation}`)] : await modelsThat("plays", isCurrent);
    if (!isCurrent()) return null;
    if (mine) seat = new FriendSeat(main, found);
    else main.replaceChildren(h("div", { class: "stack" }, invitation ? accepting(invitation, found, isCurrent) : inviting(found, isCurrent)));
  } catch (error) {
    if (!REASONS[error.status]) throw error;
    if (isCurrent()) refuse(main, error);
  }
  return () => seat?.leave();
}

/** Explain why the game cannot be joined. */
function refuse(main, { status }) {
  const links = h("div", { class: "row" }, h("a", { class: "button", href: "#/friend" }, "Make a link of your own"), h("a", { class: "button", href: "#/play" }, "Play the computer"));
  main.replaceChildren(h("section", { class: "panel" }, title("No game here", REASONS[status]), links));
}

/** A form with a name and other fields; `send(name)` makes the request that returns a table, which is left unless
 * `isCurrent()` is still true. */
function nameForm(label, isCurrent, send, ...fields) {
  const name = h("input", { value: givenName() ?? "", maxlength: 60, required: true, autocomplete: "nickname" });
  const start = async () => {
    try {
      const { table, friend } = await send(name.value.trim());
      if (!isCurrent()) return void (await remove(`/tables/${table}`));
      keep("name", name.value.trim());
      keep(keyOfSeat(friend.invitation), table);
      // The friend's address already has this hash, so setting it would not open the page.
      if (location.hash.endsWith(friend.invitation)) dispatchEvent(new Event("hashchange"));
      else location.replace(`#/friend/${friend.invitation}`);
    } catch (error) {
      if (isCurrent()) complain(error);
    }
  };
  return form({ class: "seat-form" }, start, h("label", { class: "field" }, h("span", {}, "Your name"), name), fields, h("button", { class: "main" }, label));
}

function inviting({ digest }, isCurrent) {
  const clock = choice("Time for each move", CLOCKS, CLOCKS[0][0]);
  const send = (name) => post("/tables", { opponent: digest, friend: true, name, clock: Number(clock.select.value) });
  return h("section", { class: "panel" }, title("Play with a friend", "You get a link to send. Your friend opens it, and both of you play, each with a hand that the other cannot see."), nameForm("Make a link", isCurrent, send, clock.field));
}

function accepting(invitation, { host, game, rules, clock }, isCurrent) {
  const entry = nameForm("Start the game", isCurrent, (name) => post(`/tables/invitations/${invitation}`, { name }));
  const lesson = h("p", {}, "New to the game? ", h("a", { href: "#/learn", target: "_blank" }, "Learn in a minute"));
  return [
    h("section", { class: "panel stack" }, title(`${host} invites you to a game`, clock < 600 && `You have ${clock} seconds for each move.`), entry, lesson),
    h("section", { class: "panel primer" }, rendererOf(game).primer(rules)),
  ];
}

/** A person's seat in a game between two people. A pending request waits for changes at the table. */
class FriendSeat extends Seat {
  constructor(main, table) {
    super(main, []);
    this.key = keyOfSeat(table.friend.invitation);
    this.waiting = new AbortController();
    this.follow(table);
    this.timer = setInterval(() => this.drawClock(), 500);
  }

  leave() {
    super.leave();
    clearInterval(this.timer);
    this.waiting.abort();
  }

  /** Show the link until the friend joins. */
  invite(table) {
    const link = h("input", { class: "link", readonly: true, value: location.href, "aria-label": "Link for your friend", onfocus: () => link.select() });
    const hint = "This address works on this computer only. For a friend elsewhere, start the server with --host 0.0.0.0 and open the page by the address of this computer.";
    const cancel = h("button", { type: "button", onclick: () => this.stand(table) }, "Cancel");
    const heading = title("Send this link to your friend", "It is for one person: whoever opens it first and gives a name takes the other seat.");
    const wait = h("p", { role: "status" }, "Waiting for your friend …");
    this.main.replaceChildren(h("section", { class: "panel stack" }, heading, h("div", { class: "row" }, link, copyButton(location.hash, "Copy the link", "main")), isLocal() && h("p", { class: "quiet small" }, hint), wait, h("div", { class: "row" }, cancel)));
  }

  sitDown(table) {
    this.table = null;
    this.news = h("div", { class: "news", role: "status" });
    this.clock = h("span", { class: "time" });
    super.sitDown(table);
    this.ending.before(h("div", { class: "row friend-row" }, this.news, this.clock));
    this.log.after(copyButton(`#/watch/${table.friend.watch}`, "Copy link for spectators", "plain"));
  }

  /** Show a table unless a later version has been shown. Keep the picked move if only the friend has acted. */
  take(table) {
    if (this.isGone) return;
    const [before, { friend }] = [this.table, table];
    if (before && friend.version <= before.friend.version) return;
    if (before && !before.is_on && table.is_on) return void this.sitDown(table);
    this.until = performance.now() + 1000 * (friend.left ?? Infinity);
    const state = ({ n_events: n, is_on: isOn, friend: { chosen } }) => `${n} ${isOn} ${chosen?.action}`;
    if (before && state(before) === state(table)) this.table = table;
    else super.take(table);
    this.drawNews();
    this.drawClock();
  }

  drawNews() {
    const { friend, is_on: isOn, legal, names } = this.table;
    const wait = `Waiting for ${names[1]} …`;
    let words = legal.length ? `${names[1]} is choosing, too.` : wait;
    if (!isOn) words = friend.is_here ? (friend.again[1] ? `${names[1]} wants to play again.` : friend.again[0] && wait) : !friend.ended && `${names[1]} has left.`;
    else if (friend.chosen) words = `You chose ${friend.chosen.name}. ${wait}`;
    else if (friend.has_chosen) words = `${names[1]} has chosen.`;
    document.title = isOn && legal.length && !friend.chosen ? "Your move · Punish" : `${names[1]} · Punish`;
    const score = friend.score.some(Boolean) && h("span", { class: "quiet" }, `Score: you ${friend.score[0]}, ${names[1]} ${friend.score[1]}.`);
    const previous = friend.previous !== null && h("a", { href: `#/review/${friend.previous}`, target: "_blank" }, "Review the previous game");
    const back = isOn && friend.chosen && h("button", { type: "button", onclick: () => this.takeBack() }, "Take back ", h("kbd", { "aria-hidden": "true" }, "Esc"));
    this.news.replaceChildren(...[words, score, back, previous].filter(Boolean));
    if (!isOn) this.ending.querySelector(".rematch").hidden = !friend.is_here;
  }

  drawClock() {
    if (!this.table) return;
    const seconds = Math.max(0, Math.ceil((this.until - performance.now()) / 1000));
    this.clock.textContent = seconds <= 60 ? `${seconds} s left` : "";
    this.clock.classList.toggle("bad", seconds <= 10);
  }

  /** Show a table and its changes until the user leaves the page. */
  async follow(table) {
    if (this.table) this.take(table);
    else if (table.view) this.sitDown(table);
    else if (!this.timer) this.invite(table);
    const { signal } = this.waiting;
    let next = table;
    try {
      next = await get(`/tables/${table.table}`, { version: this.isLost ? null : (this.table ?? table).friend.version }, signal);
      if (this.isLost && !signal.aborted) calm();
      this.isLost = false;
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === GONE) return void this.welcome();
      this.isLost = true;
      complain(error.status ? error : LOST);
      await pause(RETRY);
    }
    if (!signal.aborted) this.follow(next);
  }

  mend(error, id) {
    this.isLost ||= !error.status;
    return super.mend(error.status ? error : LOST, id);
  }

  takeBack = () => remove(`/tables/${this.table.table}/choice`).then((table) => this.take(table), complain);

  /** Request another game with the same friend. */
  deal = () => this.table.friend.is_here && post(`/tables/${this.table.table}/again`, {}).then((table) => this.take(table), complain);

  /** Return true for "judges" if the game was finished; the judge does not depend on the agent. */
  offers = (what) => what === "judges" && !this.table.friend.ended;

  finish(words) {
    super.finish(this.table.friend.ended ?? words);
  }

  /** Leave the table, and show that the game is gone. */
  welcome() {
    this.forget();
    refuse(this.main, { status: GONE });
  }

  stand({ table } = this.table) {
    this.forget();
    remove(`/tables/${table}`).catch(() => {});
    location.hash = "#/play";
  }

  forget() {
    this.table = null;
    keep(this.key, null);
    keep(SEAT, null);
    calm();
    this.leave();
  }

  onKey(event) {
    const mayTakeBack = this.table?.is_on && this.table.friend.chosen && !event.repeat && !event.target.closest("dialog[open]");
    if (mayTakeBack && keyOf(event) === "Escape") this.takeBack();
    else super.onKey(event);
  }
}
