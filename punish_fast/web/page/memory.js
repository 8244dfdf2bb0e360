/** Preferences and the practice score, stored in localStorage and never sent to the server. */

const PREFIX = "punish.";

/** Return the value stored under a name; `otherwise` if there is none or it cannot be read. */
export function recall(name, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Store a value under a name; null deletes it. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows may refuse to store values.
  }
}
