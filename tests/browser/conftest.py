"""Reports in a real browser: runs that are made once and shared by all workers of pytest, a Chromium for each worker, and an opener."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_page import Page
from made_reports import Made, Ztp, program
from selenium import webdriver
from selenium.webdriver.chrome.service import Service


@pytest.fixture(scope="session")
def ztp() -> Ztp:
    return Ztp()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, ztp: Ztp) -> Made:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    return Made(folder / "browser", ztp)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    install = "scripts/setup.sh test installs it (Debian: apt-get install chromium chromium-driver fonts-dejavu-core)"
    options = webdriver.ChromeOptions()
    # Both are named, so Selenium does not look for any, in the network least of all.
    options.binary_location = program(shutil.which("chromium") or shutil.which("google-chrome"), "Chromium", install)
    driver = program(shutil.which("chromedriver"), "chromedriver", install)
    for argument in [
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "hide-scrollbars",
        "disable-dev-shm-usage",
        "force-device-scale-factor=1",
    ]:
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Only the requests: the protocol's other messages would fill the log.
    options.add_experimental_option("perfLoggingPrefs", {"enableNetwork": True, "enablePage": False})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()


@pytest.fixture(name="open")
def opener(browser: webdriver.Chrome) -> Iterator[Callable[..., Page]]:
    """open(file, width, dark) is the page of a report, ready. What it complains of makes the test fail."""
    pages: list[Page] = []

    def opened(file: Path, width: int = 1280, dark: bool = False, address: str = "") -> Page:
        pages.append(Page(browser, file, width, dark, address))
        return pages[-1]

    yield opened
    if pages:
        complaints = pages[-1].complaints()
        assert complaints == [], complaints
