/** Meanings of keys, independent of the keyboard layout. */

const isOfAnotherScript = (character) => /^\P{ASCII}/u.test(character) && !/^\p{Script=Latin}/u.test(character);

/** Return the meaning of a key: a lower-case letter, a digit, a sign such as "?", or a name such as "Enter". A letter of
 * another script means the Latin letter on the same key. On layouts whose digits require Shift, a key of the digit row
 * means its digit without Shift, too. */
export function keyOf({ key, code, shiftKey }) {
  const typed = key.normalize("NFKC").toLowerCase();
  if (/^[a-z0-9?]$/.test(typed)) return typed;
  const [, letter, digit] = /^(?:Key([A-Z])|(?:Digit|Numpad)([0-9]))$/.exec(code) ?? [];
  if (letter && isOfAnotherScript(typed)) return letter.toLowerCase();
  if (digit && !shiftKey && [...typed].length === 1) return digit;
  return key;
}
