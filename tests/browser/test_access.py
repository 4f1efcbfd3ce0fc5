"""Who cannot see the page or has no mouse can use it: axe finds no fault, everything has a name and can be reached."""

from __future__ import annotations

from importlib.resources import files

import pytest
from selenium.webdriver.common.keys import Keys

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


@pytest.mark.parametrize("name", ["world", "rival", "tied", "compared"])
def test_axe_finds_no_fault(name, made, open):
    page = open(made.report(name))
    page.script(AXE)
    faults = []
    for dark in (False, True):  # where colours alone differ
        page.look(1280, dark)
        rules = {"type": "rule", "values": ["color-contrast"]} if dark else {"type": "tag", "values": RULES}
        for view in ["columns", "entities"] if name == "tied" else page.views():  # its other views are those of world
            page.go(view)
            found = page.browser.execute_async_script(
                "const done = arguments[1]; axe.run(document, {runOnly: arguments[0], resultTypes: ['violations']})"
                ".then((r) => done(r.violations))",
                rules,
            )
            faults += [
                (view, "dark" if dark else "light", fault["id"], node["html"][:150], node["failureSummary"][:200])
                for fault in found
                for node in fault["nodes"][:3]
            ]
    assert faults == []


NAMELESS = """
  const named = (e) => (e.getAttribute("aria-label") || e.textContent || e.title || "").trim() ||
      (e.id && document.querySelector(`label[for="${e.id}"]`)?.textContent.trim());
  const seen = Array.from(document.querySelectorAll("a, button, input, select, [role=button], [role=link], [onclick]"))
                   .filter((e) => e.getClientRects().length);
  // Of the circles of a map and the cells of a matrix one stops Tab, and arrows go to the others.
  return seen.filter((e) => !named(e) || (e.tabIndex < 0 && !e.matches(".component, .matrix-item")))
      .map((e) => e.outerHTML.slice(0, 150));"""
FIGURES = """
  return Array.from(document.querySelectorAll("main > section:not([hidden]) .plot > svg"))
      .filter((svg) => (svg.getAttribute("aria-label") || "").length < 10 ||
                       !["img", "group"].includes(svg.getAttribute("role")))
      .map((svg) => svg.closest("figure").textContent.slice(0, 80));"""
# What has the cursor of something to be pressed but cannot be reached, and drawings within one picture that can.
UNREACHED = """
  const pressable = Array.from(document.querySelectorAll("main > section:not([hidden]) *")).filter((e) =>
      getComputedStyle(e).cursor === "pointer" && e.getClientRects().length);
  const focusable =
      (e) => e.closest("a[href], button, select, input, [tabindex]:not([tabindex='-1']), label, .hits, option");
  // Of the circles of a map and the cells of a matrix one stops Tab, and arrows go to the others.
  const arrows = (e) => [".component", ".matrix-item"].some((kind) =>
      e.closest(kind) && e.closest("svg").querySelectorAll(`${kind}[tabindex='0']`).length === 1);
  return [...pressable.filter((e) => !focusable(e) && !arrows(e)),
          ...document.querySelectorAll("[role=img] [tabindex]")].map((e) => e.outerHTML.slice(0, 150));"""


@pytest.mark.parametrize("name", ["world", "tied", "compared"])
def test_everything_has_a_name_and_can_be_reached(name, made, open):
    page = open(made.report(name))
    for view in page.views():
        page.go(view)
        assert page.script(NAMELESS) == [], view
        assert page.script(FIGURES) == [], view
        assert page.script(UNREACHED) == [], view


@pytest.mark.parametrize("view", ["overview", "components", "entities", "diagnostics", "fit"])
def test_tab_goes_through_all_of_a_view(view, made, open):
    page = open(made.report("world"), address=view)
    focusable = page.script(
        "window.wanted = Array.from(document.querySelectorAll('a[href], button, select, input, [tabindex=\"0\"]'))"
        ".filter((e) => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden'); return wanted.length"
    )
    page.script("window.reached = new Set(); addEventListener('focusin', (event) => reached.add(event.target))")
    left = []
    for _ in range(4):  # some of them are tables that scroll, and the browser has stops of its own
        page.keys(*[Keys.TAB] * (focusable // 2 + 1))
        left = page.script("return wanted.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 120))")
        if not left:
            break
    assert left == []


def test_the_keyboard_shows_tooltips_and_follows_links(made, open):
    page = open(made.report("world"), address="components/1")
    page.one("#relevance").click()
    for _ in range(6):
        page.keys(Keys.TAB)
        if page.script("return document.activeElement.classList.contains('bar')"):
            break
    label = page.script("return document.activeElement.querySelector('.label').textContent")
    assert not page.script("return document.getElementById('tooltip').hidden")
    assert page.script("return document.querySelector('#tooltip strong').textContent").startswith(
        label.removesuffix("…")
    )
    page.keys(Keys.ESCAPE)
    assert page.script("return document.getElementById('tooltip').hidden")
    page.keys(Keys.ENTER)
    page.wait(lambda: page.address().startswith("entities/"), "the entity")
    page.frames()
    assert page.one(".entity-name").text.startswith(label.removesuffix("…"))
