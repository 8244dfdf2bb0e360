/** Preferences, the user's name and the practice score, stored in localStorage. */

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

// Earlier versions stored this name for all users who had given none.
const YOU = "you";
// Name of a guest whose name is not stored yet, or cannot be stored.
const GUEST = `Guest ${100_000 + (crypto.getRandomValues(new Uint32Array(1))[0] % 900_000)}`;

/** Return the name that the user has given, or null. */
export function givenName() {
  const name = recall("name", null);
  return name === YOU ? null : name;
}

/** Return a random name of this browser, for users who have given none. */
export function guestName() {
  if (!recall("guest", null)) keep("guest", GUEST);
  return recall("guest", GUEST);
}

/** Return the user's name in the records. */
export const nameHere = () => givenName() ?? guestName();
