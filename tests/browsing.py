"""A headless Chromium that watches what a page does: its errors, its requests, its flaws for screen readers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
_SERIOUS = ("serious", "critical")
# Elements that reach beyond the window or their own width, and controls that overlap other elements. Elements that
# stay in place while the page is scrolled may cover others.
_MISPLACED = """() => {
  const above = (e, test) => { for (let x = e; x && x !== document.body; x = x.parentElement) if (test(x, getComputedStyle(x))) return true; return false; };
  const name = (e) => `${e.tagName} ${e.className} ${(e.ariaLabel ?? e.innerText ?? "").slice(0, 30)}`;
  const shown = [...document.querySelectorAll("a, button, input, select, summary, output, h1, h2, h3, th, td, p, li, dt, dd")]
    .filter((e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest(".sr, .skip, dialog:not([open])"))
    .map((e) => [e, e.getBoundingClientRect()]);
  const found = [];
  for (const [e, box] of shown) {
    const scrolls = above(e.parentElement, (_, style) => style.overflowX !== "visible");
    if (!scrolls && (box.right > innerWidth + 1 || box.left < -1)) found.push(`outside: ${name(e)}`);
    if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth && getComputedStyle(e).overflowX === "visible") found.push(`too wide: ${name(e)}`);
  }
  const still = shown.filter(([e]) => !above(e, (_, { position }) => ["fixed", "sticky"].includes(position)));
  for (const [a, r] of still.filter(([e]) => e.matches("a, button, input, select, summary"))) for (const [b, s] of still) {
    if (a.contains(b) || b.contains(a) || a.closest("label")?.contains(b)) continue;
    const [wide, high] = [Math.min(r.right, s.right) - Math.max(r.left, s.left), Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top)];
    if (wide > 2 && high > 2) found.push(`overlap: ${name(a)} and ${name(b)}`);
  }
  return found;
}"""  # noqa: E501


def need_a_browser() -> str:
    """The program of the browser; skips the tests of a module where they cannot run."""
    pytest.importorskip("playwright.sync_api", reason="no browser is driven: pip install playwright")
    pytest.importorskip("axe_playwright_python", reason="no page is checked: pip install axe-playwright-python")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no browser is here: apt-get install chromium", allow_module_level=True)
    return program


@contextmanager
def browser_of(program: str) -> Iterator[Browser]:
    """A browser that knows nothing of earlier ones."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """One visitor of a site.

    Attributes:
        page: The page.
        troubles: Errors and warnings of the console, exceptions, and requests to other hosts.
    """

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address = address
        self.troubles: list[str] = []
        self._context = browser.new_context(viewport=options.pop("size", LAPTOP), **options)
        self._context.set_default_timeout(20_000)
        self.page: Page = self._context.new_page()
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"exception: {error}"))
        self.page.on("request", self._on_request)

    def go(self, route: str, waits_for: str) -> Page:
        self.page.goto(f"{self.address}/{route}")
        self.page.wait_for_selector(waits_for)
        return self.page

    def flaws(self) -> list[str]:
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        # Texts of values that a script did not mean to show.
        odd = re.findall(r"\b(?:false|null|undefined|NaN)\b|\[object", self.page.locator("body").inner_text())
        inaccessible = [
            f"{flaw['id']}: {flaw['help']}: {[node['html'][:120] for node in flaw['nodes'][:4]]}"
            for flaw in found
            if flaw["impact"] in _SERIOUS
        ]
        return odd + inaccessible

    def misplaced(self) -> list[str]:
        """Elements beyond the window or their own width, and controls that overlap other elements."""
        found: list[str] = self.page.evaluate(_MISPLACED)
        return found

    def width(self) -> int:
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert isinstance(width, int)
        return width

    def end(self) -> None:
        self._context.close()

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")

    def _on_request(self, request: Any) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.troubles.append(f"request to another host: {request.url}")
