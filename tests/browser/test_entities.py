"""Entities are found by their names, and lead to each other and to their components."""

from __future__ import annotations

import math
from urllib.parse import quote

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser_page import Page
from shown import fixed


def search(page: Page, text: str) -> list[str]:
    field = page.one("#search")
    field.clear()
    field.send_keys(text)
    return page.texts(".hits li span:first-child")


def test_search(world):
    page = world("entities")
    entity = lambda: page.one(".entity-name").text  # noqa: E731
    assert "Germany" in search(page, "germ")
    page.keys(Keys.ENTER)
    page.frames()
    assert (entity(), page.address()) == ("Germany", "entities/country/Germany")
    # Arrows go down and up, and around.
    hits = search(page, "uni")
    assert len(hits) > 3
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_UP)
    assert page.one(".hits li[aria-selected=true]").text.startswith(hits[-1])
    assert page.one("#search").get_attribute("aria-activedescendant") == page.one(
        ".hits li[aria-selected=true]"
    ).get_attribute("id")
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    page.frames()
    assert entity() == hits[1]
    # The mouse, and letters of the other case.
    assert "NATO" in search(page, "nato")
    page.one(".hits li").click()
    page.frames()
    assert (entity(), page.address()) == ("NATO", "entities/organisation/NATO")
    assert search(page, "no such name") == []
    assert page.one("[role=status]").text == "No name matches."
    search(page, "fra")
    assert page.one("#search").get_attribute("aria-expanded") == "true"
    page.keys(Keys.ESCAPE)
    assert not page.one(".hits").is_displayed()
    assert page.one("#search").get_attribute("aria-expanded") == "false"


def test_links_between_entities_and_components(world):
    page = world("components/1")
    label = page.bars("organisation")[0][0]
    page.figure("organisation").find_element(By.CSS_SELECTOR, "g.bar").click()
    page.frames()
    assert page.one(".entity-name").text == label
    assert page.address() == f"entities/organisation/{quote(label, safe='')}"
    neighbour = page.bars("Its nearest neighbours")[0][0]
    page.figure("Its nearest neighbours").find_element(By.CSS_SELECTOR, "g.bar").click()
    page.frames()
    assert page.one(".entity-name").text == neighbour
    cell = page.one("#unseen a")
    country = cell.text
    cell.click()
    page.frames()
    assert page.one(".entity-name").text == country
    name = page.bars("Its components")[0][0]
    page.figure("Its components").find_element(By.CSS_SELECTOR, "g.bar").click()
    page.frames()
    assert page.one(".component-name").text.startswith(f"{name.split()[0]}: ")
    page.go("entities/country/France")
    number = page.one("#unseen .chip").text
    page.one("#unseen .chip").click()
    page.frames()
    assert page.one(".component-name").text.startswith(f"{number}: ")


def test_nearest_neighbours_are_those_with_the_same_parts(world):
    page = world("entities/country/France")
    entities, mode = page.data["entities"][0], page.data["modes"][0]

    def shares(j: int) -> dict[int, float]:
        parts = range(entities["start"][j], entities["start"][j + 1])
        return {entities["component"][i]: entities["share"][i] for i in parts}

    own = shares(mode["labels"].index("France"))
    alike = {
        label: sum(math.sqrt(share * own.get(r, 0)) for r, share in shares(j).items())
        for j, label in enumerate(mode["labels"])
        if label != "France"
    }
    wanted = sorted(alike.values(), reverse=True)[:10]
    shown = page.bars("Its nearest neighbours")
    assert [number for _, number in shown] == [fixed(min(1.0, value), 3) for value in wanted]
    assert page.script("return document.querySelector('.chip').title") != ""


def test_networks(world):
    page = world("networks")
    node = page.one("g.node")
    lines = page.hover(node)
    page.leave()
    assert lines[0] in page.data["modes"][0]["labels"]
    node.click()
    page.frames()
    assert page.one(".entity-name").text == lines[0]
