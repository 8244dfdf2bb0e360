/** Meaning of keys on any keyboard layout. */

const isOfAnotherScript = (character) => /^\P{ASCII}/u.test(character) && !/^\p{Script=Latin}/u.test(character);

/** The meaning of a key: a lower-case letter, a digit, a sign such as "?", or a name such as "Enter". A letter of another
 * script stands for the Latin letter on the same key; keys of the digit row are digits, even if these need the shift key. */
export function keyOf({ key, code, shiftKey }) {
  const typed = key.normalize("NFKC").toLowerCase();
  if (/^[a-z0-9?]$/.test(typed)) return typed;
  const [, letter, digit] = /^(?:Key([A-Z])|(?:Digit|Numpad)([0-9]))$/.exec(code) ?? [];
  if (letter && isOfAnotherScript(typed)) return letter.toLowerCase();
  if (digit && !shiftKey && [...typed].length === 1) return digit;
  return key;
}
