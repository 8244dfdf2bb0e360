/** What the browser remembers: preferences and the practice score, in localStorage. Nothing leaves the browser. */

const PREFIX = "punish.";

/** What was kept under a name, or the default; a browser that keeps nothing is fine. */
export function recall(name, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Keep a value under a name; null forgets it. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows may refuse.
  }
}
