"""The view of columns and the core: its numbers are those of the command line, and what can be pressed does what it
says."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser_page import Page
from shown import fixed, percent, six


@pytest.fixture
def tied(made, open):
    return lambda address="columns": open(made.report("tied"), address=address)


def interval(item: dict) -> str:
    return f"{fixed(item['weight'], 1)} [{fixed(item['weight_q05'], 1)}, {fixed(item['weight_q95'], 1)}]"


def stability(item: dict) -> str:
    return "" if item["stability"] is None else f" · stability {fixed(item['stability'], 2)}"


def facts(page: Page) -> str:
    return page.one(".chooser + .facts").text


def heading(page: Page) -> str:
    return page.one(".component-name").text


def address_of(columns: dict) -> str:
    return "/".join(["columns", *(quote(str(part), safe="") for pair in columns.items() for part in pair)])


def cells(page: Page) -> list[str]:
    """What the cells of the matrix say to those who cannot see them."""
    return page.script("return Array.from(document.querySelectorAll('.matrix-cell'), (c) => c.ariaLabel)")


@pytest.mark.parametrize("name", ["tied", "learned"])
def test_columns_and_their_entities(name, made, open, ztp):
    page = open(made.report(name), address="columns")
    told = ztp.json("components", made.run(name), "--top", 14)
    assert len(page.data["columns"]["list"]) == len(told["columns"])
    for column in told["columns"]:
        page.go(f"columns/{column['modes'][0]}/{column['column']}")
        assert facts(page) == f"weight {interval(column)}{stability(column)}"
        shown = page.bars(", ".join(column["modes"]))
        values = [percent(six(entity["value"]), 2) for entity in column["top"]]
        assert 0 < len(shown) <= 14
        assert [number for _, number in shown] == values[: len(shown)]
        for (label, _), entity in zip(shown, column["top"], strict=False):
            assert entity["label"].startswith(label.removesuffix("…"))
        # And the entries that it is in, strongest first, in each of its roles.
        for mode in column["modes"]:
            entries = [entry for entry in told["core"] if entry["columns"][mode] == column["column"]]
            title = f"As {mode}" if len(column["modes"]) > 1 else "What it meets"
            if entries:
                assert [number for _, number in page.bars(title)] == [fixed(e["weight"], 1) for e in entries[:12]]


@pytest.mark.parametrize("name", ["tied", "learned"])
def test_entries_of_the_core(name, made, open, ztp):
    page = open(made.report(name), address="columns")
    core = ztp.json("components", made.run(name))["core"]
    assert len(page.data["columns"]["core"]["entries"]) == len(core)
    for entry in core[:8]:
        page.go(address_of(entry["columns"]))
        assert facts(page) == f"weight {interval(entry)}{stability(entry)}"
        assert page.one(".matrix-cell.chosen").get_attribute("aria-label").endswith(
            f"weight {interval(entry)}{stability(entry).replace(' · ', ', ')}"
        )
    # The matrix of each relation has all its entries, and none of others.
    relation = core[0]["columns"]["relation"]
    page.go(f"columns/relation/{quote(str(relation), safe='')}")
    assert len(cells(page)) == sum(entry["columns"]["relation"] == relation for entry in core)


def test_all_relations_together(tied):
    page = tied()
    core = page.data["columns"]["core"]
    sums: dict[tuple[int, int], float] = {}
    for (i, _, j), weight in zip(core["entries"], core["weight"], strict=True):
        sums[i, j] = sums.get((i, j), 0) + weight
    assert len(cells(page)) == len(sums)
    keys = page.script("return Array.from(document.querySelectorAll('.matrix-cell'), (c) => c.dataset.key)")
    assert sorted(keys) == sorted(f"{i},{j}" for i, j in sums)


def test_pressing_cells_and_labels(tied):
    page = tied("columns/relation/likes")
    assert heading(page) == "likes"
    assert page.one("#slice-1").get_attribute("value") == "likes"
    cell = page.one(".matrix-cell")
    said = cell.get_attribute("aria-label")
    cell.click()
    page.frames()
    assert page.address().startswith("columns/subject/") and page.address().count("/") == 6
    assert said.endswith(facts(page).replace(" · ", ", "))
    assert heading(page).startswith("likes: ")
    # The label of a row leads to its column, and the matrix stays.
    page.all(".matrix-label")[1].click()
    page.frames()
    assert page.address().count("/") == 2
    assert page.figure("subject × object: likes")
    assert page.all(".matrix-label.chosen")
    page.choose("#slice-1", next(text for text in page.texts("#slice-1 option") if text.startswith("all")))
    assert page.figure("subject × object").find_element(By.CSS_SELECTOR, "h3").text == "subject × object"
    page.choose("#pair", "subject × relation")
    assert page.figure("subject × relation")
    # An entry of the list leads to the entry.
    page.figure("As subject").find_element(By.CSS_SELECTOR, "g.bar").click()
    page.frames()
    assert page.address().count("/") == 6


def test_the_keyboard_goes_through_the_matrix(tied):
    page = tied()
    assert len(page.all(".matrix-item[tabindex='0']")) == 1
    page.script("document.querySelector('.matrix-cell').focus()")
    at = "const d = document.activeElement.__data__; return d && d.at"
    row, column = page.script(at)
    page.keys(Keys.ARROW_LEFT)  # the label of the row, or a cell before it
    assert page.script(at)[0] == row and page.script(at)[1] < column
    page.keys(Keys.ARROW_RIGHT)
    assert page.script(at) == [row, column]
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert page.script(at) == [row, column]
    assert len(page.all(".matrix-item[tabindex='0']")) == 1
    page.keys(Keys.ENTER)
    page.frames()
    assert page.address().count("/") == 4  # both columns: all relations are shown
    assert page.script(at) == [row, column], "the focus stays"


def test_an_entity_lights_its_columns(tied):
    page = tied()
    lit = "return [...document.querySelectorAll('.lamp')].filter((l) => Number(l.style.fillOpacity) > 0.1).length"
    assert page.script(lit) == 0
    page.hover(page.all("g.bar")[0])
    assert page.script(lit) > 0
    page.leave()
    assert page.script(lit) == 0
    field = page.one("#find-column")
    field.send_keys("B person 7")
    page.keys(Keys.ENTER)
    page.frames()
    entities, mode = page.data["entities"][0], page.data["modes"][0]
    place = mode["labels"].index("B person 7")
    main = page.data["columns"]["list"][entities["component"][entities["start"][place]]]
    assert page.address() == f"columns/subject/{main['number']}"
    assert page.script(lit) > 0
    first = percent(entities["share"][entities["start"][place]], 0)
    assert f"B person 7 is in {main['number']} {first}" in " ".join(page.texts(".facts"))
    page.one("#find-column").send_keys("fears")
    page.keys(Keys.ENTER)
    page.frames()
    assert heading(page) == "<b>fears</b>"


@pytest.mark.parametrize(
    "address", ["columns/subject/99", "columns/nothing/1", "columns/subject", "columns/relation/x"]
)
def test_addresses_that_lead_nowhere(address, tied):
    page = tied(address)
    assert facts(page).startswith(f"There is no {address.removeprefix('columns/').replace('/', ' ')} in use.")
    assert page.all(".matrix-cell")


def test_links_from_other_views(tied):
    page = tied("entities/subject/A%20person%203")
    number = page.one("#unseen .chip").text
    page.one("#unseen .chip").click()
    page.frames()
    assert heading(page).endswith(number.replace(" · ", " → "))
    page.go("entities/relation/likes")
    assert page.figure("Its core entries")
    page.go("overview")
    page.figure("The largest columns").find_element(By.CSS_SELECTOR, "g.bar").click()
    page.frames()
    assert page.address().startswith("columns/subject/")
    page.go("networks")
    page.figure("The network's own columns").find_element(By.CSS_SELECTOR, "g.bar").click()
    page.frames()
    assert page.address().startswith("columns/subject/")
