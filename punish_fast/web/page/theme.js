/** Light and dark colours: the system's preference unless the user has switched them. */

import { keep, recall } from "./memory.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Apply the colours, and make a button switch between them. */
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
