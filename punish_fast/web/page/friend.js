/** Page for a game between two people: create an invitation link, accept an invitation, and play. */

import { get, modelsThat, pause, post, remove } from "./api.js";
import { calm, choice, complain, h, title } from "./dom.js";
import { rendererOf } from "./games.js";
import { keyOf } from "./keys.js";
import { keep, recall } from "./memory.js";
import { SEAT, Seat } from "./play.js";

// Seconds per move in a game without a clock, which ends when no move has been made for ten minutes.
const NO_CLOCK = 600;
const CLOCKS = [[String(NO_CLOCK), "no clock"], ["120", "2 minutes"], ["60", "1 minute"], ["30", "30 seconds"]];
// Milliseconds to wait before retrying a failed request.
const RETRY = 2000;
const [GONE, TAKEN, INVALID] = [404, 409, 422];
const REASONS = {
  [GONE]: "This game is gone: it has ended, or the server was restarted. Nothing was recorded if it was not finished.",
  [TAKEN]: "Both seats at this table are taken, and only two can play.",
  [INVALID]: "This link is not complete. Ask your friend to send it again.",
};

const keyOfSeat = (invitation) => `friend.${invitation}`;

export async function show(main, [invitation], isCurrent) {
  try {
    const mine = invitation && recall(keyOfSeat(invitation), null);
    if (mine) return enter(main, await get(`/tables/${mine}`), isCurrent);
    const [first] = invitation ? [await get(`/tables/invitations/${invitation}`)] : await modelsThat("plays", isCurrent);
    if (!isCurrent()) return null;
    if (!first) throw new Error("This server has no agent whose rules can be played. Start it with one: punish-fast serve veteran");
    main.replaceChildren(h("div", { class: "stack" }, invitation ? accepting(main, invitation, first) : inviting(main, first)));
  } catch (error) {
    if (!REASONS[error.status]) throw error;
    if (isCurrent()) refuse(main, error);
  }
  return null;
}

function enter(main, table, isCurrent) {
  if (!isCurrent()) return null;
  const seat = new FriendSeat(main, table);
  return () => seat.leave();
}

/** Explain why the game cannot be joined. */
function refuse(main, { status }) {
  main.replaceChildren(
    h("section", { class: "panel stack" }, title("No seat at this table", REASONS[status]), h("div", { class: "row" }, h("a", { class: "button", href: "#/friend" }, "Make a link of your own"), h("a", { class: "button", href: "#/play" }, "Play the computer"))),
  );
}

/** A form with a name and other fields; `send(name)` makes the request that returns a table. */
function form(label, send, ...fields) {
  const past = recall("name", "you");
  const name = h("input", { value: past === "you" ? "" : past, maxlength: 60, required: true, autocomplete: "nickname" });
  const onsubmit = async (event) => {
    event.preventDefault();
    try {
      const table = await send(name.value.trim());
      keep("name", name.value.trim());
      keep(keyOfSeat(table.friend.invitation), table.table);
      const hash = `#/friend/${table.friend.invitation}`;
      // The friend's address already has this hash, so setting it would not open the page.
      if (location.hash === hash) dispatchEvent(new Event("hashchange"));
      else location.hash = hash;
    } catch (error) {
      complain(error);
    }
  };
  return h("form", { class: "seat-form", onsubmit }, h("label", { class: "field" }, h("span", {}, "Your name"), name), fields, h("button", { class: "main" }, label));
}

function inviting(main, model) {
  const clock = choice("Time for each move", CLOCKS, String(NO_CLOCK));
  const send = (name) => post("/tables", { opponent: model.hash, friend: true, name, clock: Number(clock.select.value) });
  const lead = "You get a link to send. Your friend opens it, and both of you play, each with a hand that the other cannot see.";
  return h("section", { class: "panel" }, title("Play with a friend", lead), form("Make a link", send, clock.field));
}

function accepting(main, invitation, { host, game, rules, clock }) {
  const send = (name) => post(`/tables/invitations/${invitation}`, { name });
  const lead = clock < NO_CLOCK ? `You have ${clock} seconds for each move.` : null;
  return [
    h("section", { class: "panel" }, title(`${host} invites you to a game`, lead), form("Start the game", send)),
    h("section", { class: "panel primer" }, rendererOf(game).primer(rules)),
  ];
}

/** A person's seat in a game between two people. A pending request waits for changes at the table. */
class FriendSeat extends Seat {
  constructor(main, table) {
    super(main, []);
    this.waiting = new AbortController();
    this.timer = setInterval(() => this.drawClock(), 500);
    this.clock = h("span", { class: "time" });
    this.enter(table);
    this.follow();
  }

  leave() {
    super.leave();
    clearInterval(this.timer);
    this.waiting.abort();
  }

  get name() {
    return this.table.names[1];
  }

  enter(table) {
    if (table.view) this.sitDown(table);
    else this.invite(table);
  }

  /** Show the link until the friend joins. */
  invite(table) {
    this.lobby = table;
    const link = location.href;
    const field = h("input", { class: "link", readonly: true, value: link, "aria-label": "Link for your friend", onfocus: () => field.select() });
    const copy = async () => {
      field.select();
      // Browsers provide `navigator.clipboard` only to pages from secure origins.
      await (navigator.clipboard?.writeText(link) ?? document.execCommand("copy"));
      button.textContent = "Copied";
    };
    const button = h("button", { type: "button", class: "main", onclick: () => copy().catch(complain) }, "Copy the link");
    const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
    this.main.replaceChildren(
      h(
        "section",
        { class: "panel stack" },
        title("Send this link to your friend", "It is for one person: whoever opens it first and gives a name takes the other seat."),
        h("div", { class: "row" }, field, button),
        isLocal && h("p", { class: "quiet small" }, "This address works on this computer only. For a friend elsewhere, start the server with --host 0.0.0.0 and open the page by the address of this computer."),
        h("p", { role: "status" }, "Waiting for your friend …"),
        h("div", { class: "row" }, h("button", { type: "button", onclick: () => this.stand() }, "Cancel")),
      ),
    );
  }

  sitDown(table) {
    this.table = null;
    this.news = h("div", { class: "news", role: "status" });
    super.sitDown(table);
    this.ending.before(h("div", { class: "row friend-row" }, this.news, this.clock));
  }

  /** Show a table unless a later version has been shown. Keep the picked move if only the friend has acted. */
  take(table) {
    const [before, { friend }] = [this.table, table];
    if (before && friend.version <= before.friend.version) return;
    if (before && friend.game !== before.friend.game) {
      this.sitDown(table);
      return;
    }
    this.until = friend.left === null ? null : performance.now() + 1000 * friend.left;
    const isSame = before && before.n_events === table.n_events && before.is_on === table.is_on && before.friend.chosen?.action === friend.chosen?.action;
    if (isSame) this.table = table;
    else super.take(table);
    this.drawNews();
    this.drawClock();
  }

  drawNews() {
    const { friend, is_on: isOn, legal } = this.table;
    const back = friend.chosen && h("button", { type: "button", onclick: () => this.takeBack() }, "Take back ", h("kbd", { "aria-hidden": "true" }, "Esc"));
    const wait = `Waiting for ${this.name} …`;
    let words = legal.length ? `${this.name} is choosing, too.` : wait;
    if (!isOn) words = friend.is_here ? (friend.wants_again ? `${this.name} wants to play again.` : friend.again && wait) : `${this.name} has left.`;
    else if (friend.chosen) words = `You chose ${friend.chosen.name}. ${wait}`;
    else if (friend.has_chosen) words = `${this.name} has chosen.`;
    if (!isOn) this.ending.querySelector(".rematch").hidden = !friend.is_here;
    this.news.replaceChildren(...[words, isOn && back].filter(Boolean));
  }

  drawClock() {
    const seconds = this.until ? Math.max(0, Math.ceil((this.until - performance.now()) / 1000)) : Infinity;
    const isShown = this.table?.is_on && (this.table.friend.clock < NO_CLOCK || seconds <= 60);
    this.clock.textContent = isShown ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left` : "";
    this.clock.classList.toggle("bad", seconds <= 10);
  }

  /** Wait for changes until the page is left. */
  async follow() {
    let isLost = false;
    while (!this.waiting.signal.aborted) {
      const { table: id, friend } = this.table ?? this.lobby;
      try {
        const table = await get(`/tables/${id}`, { version: friend.version }, this.waiting.signal);
        if (this.waiting.signal.aborted) return;
        if (isLost) calm();
        isLost = false;
        if (this.table) this.take(table);
        else if (table.view) this.sitDown(table);
      } catch (error) {
        if (this.waiting.signal.aborted) return;
        if (error.status === GONE) return void this.welcome();
        isLost = true;
        complain(error);
        await pause(RETRY);
      }
    }
  }

  async takeBack() {
    await this.ask(() => remove(`/tables/${this.table.table}/choice`));
  }

  /** Request another game with the same friend. */
  async deal() {
    await this.ask(() => post(`/tables/${this.table.table}/again`, {}));
  }

  async ask(request) {
    try {
      this.take(await request());
    } catch (error) {
      complain(error);
    }
  }

  finish(words) {
    super.finish(this.table.friend.ended ?? words);
  }

  /** Leave the table, and show that the game is gone. */
  welcome() {
    const { friend } = this.table ?? this.lobby;
    this.table = null;
    keep(keyOfSeat(friend.invitation), null);
    keep(SEAT, null);
    this.leave();
    refuse(this.main, { status: GONE });
  }

  stand() {
    const { table, friend } = this.table ?? this.lobby;
    keep(keyOfSeat(friend.invitation), null);
    keep(SEAT, null);
    this.waiting.abort();
    remove(`/tables/${table}`).catch(() => {});
    location.hash = "#/play";
  }

  onKey(event) {
    if (this.table?.friend.chosen && keyOf(event) === "Escape") this.takeBack();
    else super.onKey(event);
  }
}
