"""The buttons beside the plots give files: the picture as it is seen, the numbers as they are."""

from __future__ import annotations

import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from browser_page import Page
from shown import percent


class Downloads:
    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.last = 0.0
        page.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def press(self, button: WebElement) -> tuple[str, str]:
        """The name and the text of the file."""
        what = button.get_attribute("aria-label")
        for old in self.folder.iterdir():
            old.unlink()
        # The browser takes more than ten files in a second for an attack.
        time.sleep(max(0, self.last + 0.11 - time.monotonic()))
        self.last = time.monotonic()
        self.page.script("arguments[0].focus()", button)
        self.page.keys(Keys.ENTER)

        # The file has its name before it has its text.
        def came() -> list[Path]:
            new = [file for file in self.folder.iterdir() if file.suffix in (".svg", ".tsv")]
            return [file for file in new if file.read_bytes()[-1:] == b"\n"]

        file = self.page.wait(came, f"a file: {what}")[0]
        return file.name, file.read_text(encoding="utf-8")


@pytest.fixture
def downloads(tmp_path):
    return lambda page: Downloads(page, tmp_path)


def rows(text: str) -> list[list[str]]:
    assert text.endswith("\n")
    return [line.split("\t") for line in text[:-1].split("\n")]


def check_picture(name: str, text: str) -> None:
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg", name
    assert root.get("viewBox")
    drawn = list(root.iter())
    assert len(drawn) > 3, name
    for element in drawn:
        assert not element.tag.endswith(("script", "image", "foreignObject", "use")), name
        for key, value in element.attrib.items():
            assert "href" not in key and not key.startswith("on"), (name, key)
            assert "var(" not in value, (name, key, value)  # colours of the page are not in the file
            assert "url(" not in value.replace(" ", "") or "url(#" in value or 'url("#' in value, (name, key, value)


@pytest.mark.parametrize("name", ["world", "tied", "compared"])
def test_every_plot_gives_its_picture_and_its_data(name, made, open, downloads):
    page = open(made.report(name))
    files = downloads(page)
    kinds = set()
    for view in ["columns", "entities"] if name == "tied" else page.views():  # its other views are those of world
        page.go(view)
        for figure in page.all("figure"):
            title = figure.find_element(By.CSS_SELECTOR, "figcaption > :first-child").text
            kind = (view, title) if view not in ("cards", "matches") else (view, title, "of one component")
            if kind in kinds:  # of cards, one of each kind
                continue
            kinds.add(kind)
            picture, text = files.press(figure.find_element(By.CSS_SELECTOR, ".svg-download"))
            assert picture.endswith(".svg")
            check_picture(title, text)
            table, text = files.press(figure.find_element(By.CSS_SELECTOR, ".data-download"))
            assert table.endswith(".tsv") and table[:-4] == picture[:-4]
            head, *body = rows(text)
            assert body, title
            assert {len(row) for row in body} == {len(head)}, title
    assert len(kinds) > {"world": 18, "tied": 6, "compared": 3}[name]


def test_the_data_are_those_that_are_shown(made, open, downloads):
    page = open(made.report("world"), address="components/2")
    files = downloads(page)

    def saved(title: str) -> list[list[str]]:
        return rows(files.press(page.figure(title).find_element(By.CSS_SELECTOR, ".data-download"))[1])

    # The order is that of the bars, whatever the slider says.
    page.script("arguments[0].value = 0.3; arguments[0].dispatchEvent(new Event('input'))", page.one("#relevance"))
    page.frames()
    head, *body = saved("country")
    assert head == ["entity", "value", "q05", "q95", "overall"]
    shown = page.bars("country")
    assert [number for _, number in shown] == [percent(float(row[1]), 2) for row in body[: len(shown)]]
    assert [label for label, _ in shown] == [row[0] for row in body[: len(shown)]]
    head, *body = saved("Map of the components")
    for row, c in zip(body, page.data["components"]["list"], strict=True):
        assert [float(row[i]) for i in (0, 2, 3, 4, 5, 6)] == [
            c[key] for key in ("number", "weight", "q05", "q95", "share", "stability")
        ]
    page.go("entities/country/France")
    head, *body = saved("Its most probable unseen cells")
    assert head == ["country", "organisation", "period", "probability", "sd", "q05", "q95", "held_out", "why"]
    assert [percent(float(row[3])) for row in body] == [
        number for _, number in page.bars("Its most probable unseen cells")
    ]
    assert all(row[0] == "France" for row in body)
    page.go("fit")
    head, *body = saved("ROC curve")
    assert [[float(x) for x in row] for row in body] == page.data["fit"]["roc"]
    page.go("diagnostics")
    _, text = files.press(page.one(".table-head .data-download"))
    head, *body = rows(text)
    assert head == ["quantity", "mean", "sd", "mcse", "r_hat", "ess_bulk", "ess_tail", "ess_per_second"]
    for row, q in zip(body, page.data["diagnostics"]["quantities"], strict=True):
        assert row[1:] == ["" if q[key] is None else f"{q[key]}" for key in head[1:]] or [
            float(x) if x else None for x in row[1:]
        ] == [q[key] for key in head[1:]]


def test_a_picture_keeps_its_colours_in_the_dark(made, open, downloads):
    page = open(made.report("world"), dark=True, address="fit")
    _, text = downloads(page).press(page.figure("ROC").find_element(By.CSS_SELECTOR, ".svg-download"))
    root = ElementTree.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    assert next(root.iter(f"{svg}rect")).get("fill") == "rgb(20, 23, 26)"
    assert next(root.iter(f"{svg}title")).text == "ROC curve"
    words = [element for element in root.iter(f"{svg}text") if element.text]
    assert {word.get("fill") for word in words} <= {"rgb(232, 234, 237)", "rgb(165, 174, 184)"}
