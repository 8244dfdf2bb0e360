/** Light and dark: as the system has it, until the button says otherwise. */

import { keep, recall } from "./memory.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Dress the page, and let a button change it. */
export function dress(button) {
  const paint = () => {
    const theme = recall("theme", null) ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    const other = theme === "dark" ? "light" : "dark";
    button.textContent = theme === "dark" ? "☀" : "☾";
    button.setAttribute("aria-label", `Use ${other} colours`);
    button.title = `Use ${other} colours`;
    button.onclick = () => {
      keep("theme", other === (system.matches ? "dark" : "light") ? null : other);
      paint();
    };
  };
  system.addEventListener("change", paint);
  paint();
}
