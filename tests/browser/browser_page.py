"""A report that is open in the browser: its views, its data, and what can be seen of it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

MEASURE = (Path(__file__).parent / "measure.js").read_text()


@cache
def data_of(file: Path) -> Any:
    """What is in the page's <script id="data">: base64 of a gzip file of JSON."""
    packed = re.search(r'<script id="data" type="text/plain">([^<]*)</script>', file.read_text())
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed.group(1))))


class Page:
    def __init__(self, browser: webdriver.Chrome, file: Path, width: int, dark: bool, address: str) -> None:
        self.browser = browser
        self.file = file
        self.data = data_of(file)
        self.look(width, dark)
        browser.get("about:blank")  # so that an address of the same file is opened anew, and what others said is gone
        browser.get_log("browser")
        browser.get_log("performance")
        begin = time.monotonic()
        browser.get(f"{file.as_uri()}{'#' if address else ''}{address}")
        self.wait(lambda: self.script("return document.documentElement.dataset.ready") == "yes", "the page is ready")
        self.frames()
        self.seconds_to_ready = time.monotonic() - begin

    def look(self, width: int, dark: bool) -> None:
        """Another size of the window, or other colours."""
        # Height: all of a phone, or a laptop's.
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def script(self, text: str, *arguments: object) -> Any:
        return self.browser.execute_script(text, *arguments)

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = 10) -> Any:
        end = time.monotonic() + seconds
        while not (result := condition()):
            assert time.monotonic() < end, f"not within {seconds} s: {what}"
            time.sleep(0.01)
        return result

    def frames(self) -> None:
        """Waits until what was asked for is drawn: observers of sizes speak between two frames."""
        self.browser.execute_async_script(
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0])))"
        )

    def go(self, address: str) -> None:
        # A view that only its observers fill needs a frame or two.
        self.script("location.hash = arguments[0]", address)
        self.frames()

    def address(self) -> str:
        return self.script("return location.hash.slice(1)")

    def views(self) -> list[str]:
        return self.script(
            "return Array.from(document.querySelectorAll('nav a'), (link) => link.getAttribute('href').slice(1))"
        )

    def all(self, selector: str) -> list[WebElement]:
        """Those of the view that is seen."""
        return self.browser.find_elements(By.CSS_SELECTOR, f"main > section:not([hidden]) {selector}")

    def one(self, selector: str) -> WebElement:
        found = self.all(selector)
        assert found, f"nothing in this view is {selector}"
        return found[0]

    def texts(self, selector: str) -> list[str]:
        """Also of what is not in the window, and of plots."""
        return self.script(
            "return Array.from(document.querySelectorAll(arguments[0]), (e) => e.textContent)",
            f"main > section:not([hidden]) {selector}",
        )

    def figure(self, title: str) -> WebElement:
        """The plot whose title begins so."""
        for element in self.all("figure"):
            if element.find_element(By.CSS_SELECTOR, "figcaption h3, figcaption h4").text.startswith(title):
                return element
        raise AssertionError(f"no plot is called {title}")

    def bars(self, title: str) -> list[tuple[str, str]]:
        """Labels and numbers of a plot of bars, from above."""
        return [
            tuple(pair)
            for pair in self.script(
                "return Array.from(arguments[0].querySelectorAll('g.bar'),"
                " (bar) => [bar.querySelector('.label').textContent, bar.querySelector('.number').textContent])",
                self.figure(title),
            )
        ]

    def choose(self, selector: str, text: str) -> None:
        Select(self.one(selector)).select_by_visible_text(text)
        self.frames()

    def hover(self, element: WebElement) -> list[str]:
        """The lines of the tooltip while the mouse is there."""
        # The driver scrolls to the element, which hides a tooltip: so there is a second, small move.
        ActionChains(self.browser, duration=0).move_to_element(element).perform()
        self.frames()
        ActionChains(self.browser, duration=0).move_by_offset(1, 0).perform()
        self.wait(lambda: not self.script("return document.getElementById('tooltip').hidden"), "a tooltip")
        return self.script("return Array.from(document.getElementById('tooltip').children, (line) => line.textContent)")

    def leave(self) -> None:
        ActionChains(self.browser, duration=0).move_to_element(
            self.browser.find_element(By.CSS_SELECTOR, ".brand")
        ).perform()
        self.wait(lambda: self.script("return document.getElementById('tooltip').hidden"), "no tooltip")

    def keys(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.browser, duration=0).send_keys(key).perform()

    def faults_of_layout(self) -> list[str]:
        """What is too wide, cut off or one above the other in the view that is seen."""
        return self.script(f"{MEASURE}\nreturn faultsOfLayout();")

    def complaints(self) -> list[str]:
        """What the browser has said since the last time: errors, warnings, what the policy has refused."""
        return [
            entry["message"] for entry in self.browser.get_log("browser") if entry["level"] not in ("DEBUG", "INFO")
        ]

    def requests(self) -> list[str]:
        """Addresses of everything that was asked for since the last time."""
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
