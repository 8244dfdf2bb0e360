/** Addresses to send to others. */

import { announce, complain, h } from "./dom.js";

/** Copy a text. Browsers provide `navigator.clipboard` only to pages from secure origins. */
async function copy(text) {
  if (navigator.clipboard) return void (await navigator.clipboard.writeText(text));
  const field = h("textarea", { class: "sr", readonly: true }, text);
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (!isCopied) throw new Error("The browser refused.");
}

/** True if addresses of this page work on this computer only. */
export const isLocal = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** A button that copies an address, given relative to the page, such as "links/games/5". */
export function copyButton(path, words = "Copy link", css = null) {
  const address = new URL(path, location.href).href;
  const onclick = async () => {
    try {
      await copy(address);
      button.textContent = isLocal() ? "Copied (works on this computer only)" : "Copied";
      announce(`The link is copied.${isLocal() ? " It works on this computer only." : ""}`);
    } catch {
      complain({ message: `The link could not be copied. It is ${address}` });
    }
    button.focus();
  };
  const button = h("button", { type: "button", class: css, onclick }, words);
  return button;
}
