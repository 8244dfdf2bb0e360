/** Light and dark colors: the system's preference unless the user has switched them. */

import { keep, recall } from "./memory.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Apply the colors, and make a button switch between them. */
export function dress(button) {
  const paint = () => {
    const theme = recall("theme", null) ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    const other = theme === "dark" ? "light" : "dark";
    button.textContent = theme === "dark" ? "☀" : "☾";
    button.setAttribute("aria-label", `Use ${other} colors`);
    button.title = `Use ${other} colors`;
    button.onclick = () => {
      keep("theme", other === (system.matches ? "dark" : "light") ? null : other);
      paint();
    };
  };
  system.addEventListener("change", paint);
  paint();
}
