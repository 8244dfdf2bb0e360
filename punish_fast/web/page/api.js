/** Requests to the server, which answers in JSON. */

// HTTP status of responses for tables that no longer exist.
export const GONE = 404;

/** An error response with the server's explanation as its message; `status` is 0 if the server did not answer. */
export class ApiError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function request(method, path, body, signal) {
  let response;
  try {
    // Use a relative URL, because a proxy may serve the page under a prefix.
    response = await fetch(`.${path}`, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      signal,
    });
  } catch {
    throw new ApiError(0, "The server does not answer. Is punish-fast serve still running?");
  }
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, words(answer) ?? `${method} ${path}: status ${response.status} without an explanation. Does a proxy forward this address to punish-fast serve?`);
  return answer;
}

const words = (answer) => (typeof answer?.detail === "string" ? answer.detail : null);

/** GET a path; query values that are null, undefined or empty are omitted. A signal can abort the request. */
export function get(path, query = {}, signal = undefined) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return request("GET", search ? `${path}?${search}` : path, undefined, signal);
}

export const post = (path, body) => request("POST", path, body);
export const remove = (path) => request("DELETE", path);

/** Wait for `time` milliseconds. */
export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

let known = null;

/** Return all agents of the server. Agents are opened one by one, so the list is cached only once all are open. */
export async function allModels() {
  if (known) return known;
  const models = await get("/models");
  if (models.every(({ digest, flaw }) => digest || flaw)) known = models;
  return models;
}

/** Return the open agents that judge choices, the strongest built-in agent first, without the opponents under house rules
 * of any user. Throw an error if there are none. */
export async function judgesHere(isWanted) {
  const judges = (await modelsThat("judges", isWanted)).filter(({ is_house: isHouse }) => !isHouse);
  if (!judges.length && isWanted()) throw new Error("No agent of this server can judge choices. The server's log may say why its agents could not be opened.");
  return judges;
}

/** Add an agent that the server has opened on request. */
export function addModel(model) {
  known = known && [...known.filter(({ digest }) => digest !== model.digest), model];
}

/** Return the open agents that support a use, such as "plays". Wait for the first such agent, which is the default, while
 * `isWanted()` is true. The first of the agents that support "judges" or "explains" is the strongest built-in agent. */
export async function modelsThat(use, isWanted = () => true) {
  for (;;) {
    const isJudge = ({ game, level }) => use !== "plays" && game === "punish" && level === "hard";
    const useful = (await allModels()).filter((model) => model[use]).sort((a, b) => isJudge(b) - isJudge(a));
    const isPending = useful.length > 0 && !useful[0].digest && !useful[0].flaw;
    if (!isPending || !isWanted()) return useful.filter(({ digest }) => digest);
    await pause(300);
  }
}
