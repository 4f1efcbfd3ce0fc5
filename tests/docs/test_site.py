"""The site of the docs: it builds without dead links, and can be searched in a browser without a server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import links
import pages
import pytest
from blocks import ROOT
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import ztp


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """As scripts/site/build.sh does, in another folder."""
    settings = folder / "mkdocs.yml"
    settings.write_text(
        f"INHERIT: {ROOT}/scripts/site/mkdocs.yml\ndocs_dir: {folder}/source\nsite_dir: {folder}/site\n"
    )
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(settings)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (folder / "site/404.html").unlink(missing_ok=True)
    return built


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    model = ztp.TensorFactorization(rank=2, sweeps=4, chains=1).fit(ztp.simulate((9, 8, 7), 60, rank=2).X)
    model.report(folder / "report.html")
    pages.main(folder / "source", folder / "report.html")
    built = build(folder)
    assert built.returncode == 0, built.stderr
    return folder / "site"


def test_no_dead_links(site: Path) -> None:
    assert not list(links.dead_in_site(site))


def test_dead_anchors_fail(site: Path) -> None:
    """And so do pages that the navigation lacks."""
    source = site.parent / "source"
    shutil.copytree(source, site.parent / "broken/source")
    (site.parent / "broken/source/docs/new.md").write_text("# New\n\n[gone](commands.md#gone)\n")
    built = build(site.parent / "broken")
    assert built.returncode != 0
    assert "does not contain an anchor '#gone'" in built.stderr
    assert "docs/new.md" in built.stderr.split('not included in the "nav"')[1]


def test_everything_is_there(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / "docs" / f"{page.stem}.html").exists()
    for notebook in (ROOT / "examples").glob("*.ipynb"):
        first = "".join(json.loads(notebook.read_text())["cells"][0]["source"]).splitlines()[0].strip("# ")
        assert first in (site / "examples" / f"{notebook.stem}.html").read_text()
    assert (site / "demo-report.html").stat().st_size > 100_000


def test_search_without_a_server(site: Path) -> None:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = Service(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        browser.get((site / "index.html").as_uri())
        field = browser.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]")
        field.click()
        field.send_keys("calibration")
        found = WebDriverWait(browser, 60).until(
            lambda it: it.find_elements(By.CSS_SELECTOR, ".md-search-result__item a")
        )
        assert any("docs/correctness.html" in link.get_attribute("href") for link in found)
        browser.get((site / "demo.html").as_uri())
        browser.switch_to.frame(browser.find_element(By.CSS_SELECTOR, "iframe.demo-report"))
        WebDriverWait(browser, 60).until(lambda it: "Have the chains converged?" in it.page_source)
        sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        asked = [it["params"]["request"]["url"] for it in sent if it["method"] == "Network.requestWillBeSent"]
        assert asked and all(url.startswith(("file:", "data:", "blob:")) for url in asked)
        assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
