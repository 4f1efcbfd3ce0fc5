"""Every view of every kind of report opens, in any width and colours, without a complaint of the browser, and asks nobody for anything."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from made_reports import COMPARED, FEW, FITS

CELLS = "return Array.from(document.querySelectorAll('#unseen tbody tr'), (row) => [row.cells[0].textContent, row.cells[1].textContent])"
LOOKS = [(1280, False), (1280, True), (400, False), (400, True)]

VIEWS = ["overview", "components", "cards", "entities", "diagnostics", "fit", "provenance"]
WITH_NETWORK = [*VIEWS[:6], "networks", "provenance"]
EXPECTED = {
    "world": WITH_NETWORK,
    FEW: WITH_NETWORK,
    "online": WITH_NETWORK,
    "rival": ["overview", "diagnostics", "fit", "provenance"],
    COMPARED: ["compare", "matches", "provenance"],
}


@pytest.mark.parametrize("name", [*(name for name in FITS if name != "other"), FEW, COMPARED])
def test_every_view_looks_right(name, made, open):
    page = open(made.report(name))
    assert page.views() == EXPECTED.get(name, VIEWS)
    faults = {}
    for width, dark in LOOKS:
        page.look(width, dark)
        for view in page.views():
            page.go(view)
            if found := page.faults_of_layout():
                faults[view, width, dark] = found
            assert page.texts(""), f"{view} is empty"
    assert faults == {}
    assert page.complaints() == []


def test_entities_that_are_left_out_have_their_names(made, open):
    page = open(made.report(FEW), address="entities")
    shown = [label for mode in page.data["modes"] for label in mode["labels"]]
    assert len(shown) == 40
    strangers = set()
    for mode in page.data["modes"]:
        for label in mode["labels"]:
            page.go(f"entities/{mode['name']}/{quote(label, safe='')}")
            assert page.one(".entity-name").text == label
            strangers |= {name for row in page.script(CELLS) for name in row if name not in shown}
    assert strangers, "no cell has an entity that is left out"
    assert not strangers & {"undefined", "null", ""}
    countries = (made.folder / "world/labels/country.txt").read_text().splitlines()
    assert strangers & set(countries)


@pytest.mark.parametrize("name", ["world", COMPARED])
def test_nothing_is_fetched(name, made, open):
    file = made.report(name)
    page = open(file)
    asked = page.requests()
    assert asked != []
    for view in page.views():
        page.go(view)
    asked += page.requests()
    strangers = [url for url in asked if url.split("#")[0] != file.as_uri() and not url.startswith(("data:", "blob:"))]
    assert strangers == []


@pytest.mark.parametrize("name", ["world", COMPARED])
def test_nothing_in_the_file_could_be_fetched(name, made):
    text = made.report(name).read_text()
    places = [r"\bsrc\s*=", r"\bhref\s*=", r"\burl\(", r"@import", r"\bimport\s*\(", r"\bfrom\s*", r"\baction\s*="]
    found = [match.group(0) for place in places for match in re.finditer(place + r"\s*[\"'`(]?\s*(?:https?:)?//[^\s\"')]*", text)]
    assert found == []
    assert "default-src 'none'" in text


def test_interactive_within_two_seconds(made, open):
    # The best of a few: another program may have had the processor.
    file = made.report("world")
    assert min(open(file).seconds_to_ready for _ in range(3)) < 2


@pytest.mark.parametrize("name", ["world", COMPARED])
def test_all_views_are_printed(name, made, open):
    page = open(made.report(name))
    first = page.views()[0]
    made_at_printing = """
        addEventListener("beforeprint", () => setTimeout(() => {}), {once: true});
        window.printed = null;
        addEventListener("beforeprint", () => {
          window.printed = Array.from(document.querySelectorAll("main > section"), (section) => ({
            hidden: section.hidden, children: section.children.length, waiting: section.querySelectorAll(".waiting").length,
            cards: section.querySelectorAll(".card").length,
            empty: Array.from(section.querySelectorAll(".plot")).filter((plot) => !plot.querySelector("svg *")).length}));
        }, {once: true});"""
    page.script(made_at_printing)
    pdf = page.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(pdf) > 50_000
    printed = dict(zip(page.views(), page.script("return window.printed"), strict=True))
    for view, section in printed.items():
        assert not section["hidden"], view
        assert section["children"] > 1, view
        assert section["waiting"] == 0, view
        assert section["empty"] == 0, view
    cards, number = ("matches", page.data["matches"]) if name == COMPARED else ("cards", page.data["components"]["list"])
    assert printed[cards]["cards"] == len(number)
    # And all is as it was.
    assert page.script("return Array.from(document.querySelectorAll('main > section:not([hidden])'), (s) => s.id)") == [f"view-{first}"]
