/** Requests to the server, which answers in JSON. */

/** An answer that is no success; the message is the server's one line. */
export class ApiError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function request(method, path, body) {
  let response;
  try {
    // Relative to the page, which a proxy may serve under a prefix.
    response = await fetch(`.${path}`, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
  } catch {
    throw new ApiError(0, "The server does not answer. Is punish-fast serve still running?");
  }
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, words(answer) ?? `${method} ${path}: answered with status ${response.status} and no reason. Does a proxy pass this address on to punish-fast serve?`);
  return answer;
}

const words = (answer) => (typeof answer?.detail === "string" ? answer.detail : null);

/** GET a path; query values that are null, undefined or empty are left out. */
export function get(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return request("GET", search ? `${path}?${search}` : path);
}

export const post = (path, body) => request("POST", path, body);
export const remove = (path) => request("DELETE", path);

/** Wait for some milliseconds. */
export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

let known = null;

/** Whether the server has opened all agents that it can. */
export const areAllOpen = () => known !== null;

/** All agents of the server. It opens them one by one; until all are open, `known` is asked for again. */
export async function allModels() {
  if (known) return known;
  const models = await get("/models");
  if (models.every(({ hash, flaw }) => hash || flaw)) known = models;
  return models;
}

/** The agents that are open and have a use, such as "plays"; waits for the first of them, the default. */
export async function modelsThat(use, isWanted = () => true) {
  for (;;) {
    const useful = (await allModels()).filter((model) => model[use]);
    const isPending = useful.length > 0 && !useful[0].hash && !useful[0].flaw;
    if (!isPending || !isWanted()) return useful.filter(({ hash }) => hash);
    await pause(300);
  }
}
