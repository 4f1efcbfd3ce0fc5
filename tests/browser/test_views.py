"""Every view of every kind of report opens, in any width and colours, without a complaint, and asks nobody for
anything."""

from __future__ import annotations

import functools
import re

import pytest

from made_reports import COMPARED, COMPARED_COLUMNS, FITS

LOOKS = [(1280, False), (1280, True), (400, False), (400, True)]

VIEWS = ["overview", "components", "cards", "entities", "diagnostics", "fit", "provenance"]
WITH_NETWORK = [*VIEWS[:6], "networks", "provenance"]
EXPECTED = {
    "world": WITH_NETWORK,
    "online": WITH_NETWORK,
    "rival": ["overview", "diagnostics", "fit", "provenance"],
    "tied": ["overview", "columns", "entities", "diagnostics", "fit", "networks", "provenance"],
    "learned": ["overview", "columns", "entities", "diagnostics", "fit", "provenance"],
    COMPARED: ["compare", "matches", "provenance"],
    COMPARED_COLUMNS: ["compare", "matches", "provenance"],
}


@pytest.mark.parametrize("name", [*(name for name in FITS if name != "other"), COMPARED, COMPARED_COLUMNS])
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


def test_faults_of_the_layout_are_found(made, open):
    """Each planted once: what sees no fault anywhere must be able to see one."""
    page = open(made.report("world"), address="fit")
    assert page.faults_of_layout() == []
    tick = "document.querySelectorAll('#view-fit .axis.x .tick')"
    page.script(f"{tick}[1].setAttribute('transform', {tick}[0].getAttribute('transform'))")
    assert any("are one above the other" in fault for fault in page.faults_of_layout())
    page.script(f"{tick}[1].remove()")
    assert page.faults_of_layout() == []
    page.script(f"{tick}[0].setAttribute('transform', 'translate(-40,0)')")
    assert any("is cut off by" in fault for fault in page.faults_of_layout())
    page.script(f"{tick}[0].remove()")
    page.script("document.querySelector('#view-fit .note').style.width = '3000px'")
    assert any("the page is 3" in fault for fault in page.faults_of_layout())


def test_entities_that_are_left_out_have_their_names(made, open):
    page = open(made.report("few"), address="entities/user/user1")
    users, things = (mode["labels"] for mode in page.data["modes"])
    assert len(things) < 100
    unseen = page.texts("#unseen tbody td:first-child")
    assert len(unseen) == 5
    assert not set(unseen) & set(things)
    assert all(100 <= int(name.removeprefix("thing")) < 200 for name in unseen)
    assert all(label in unseen for label, _ in page.bars("Its most probable unseen cells"))
    assert page.all("#unseen td:first-child a") == [], "there is nothing to go to"
    page.go(f"entities/user/{users[3]}")
    assert page.one(".entity-name").text == users[3]


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
    found = [
        match.group(0)
        for place in places
        for match in re.finditer(place + r"\s*[\"'`(]?\s*(?:https?:)?//[^\s\"')]*", text)
    ]
    assert found == []
    assert "default-src 'none'" in text


def test_interactive_within_two_seconds(made, open):
    # The best of a few: another program may have had the processor.
    file = made.report("world")
    assert min(open(file).seconds_to_ready for _ in range(3)) < 2


@pytest.mark.parametrize("name", ["world", "tied", COMPARED])
def test_all_views_are_printed(name, made, open):
    page = open(made.report(name))
    first = page.views()[0]
    made_at_printing = """
        window.printed = null;
        addEventListener("beforeprint", () => {
          window.printed = Array.from(document.querySelectorAll("main > section"), (section) => ({
            hidden: section.hidden, children: section.children.length,
            waiting: section.querySelectorAll(".waiting").length, cards: section.querySelectorAll(".card").length,
            empty: Array.from(section.querySelectorAll(".plot")).filter((plot) => !plot.querySelector("svg *")).length
          }));
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
    cards = {"world": ("cards", ["components", "list"]), COMPARED: ("matches", ["matches"])}
    if name in cards:
        view, path = cards[name]
        assert printed[view]["cards"] == len(functools.reduce(dict.__getitem__, path, page.data))
    # And all is as it was.
    assert page.script("return Array.from(document.querySelectorAll('main > section:not([hidden])'), (s) => s.id)") == [
        f"view-{first}"
    ]
