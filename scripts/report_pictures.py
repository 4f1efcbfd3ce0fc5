#!/usr/bin/env python3
"""The screenshots of docs/report.md and README.md, from the report of the demo: make demo, then
  build/venv/bin/python scripts/report_pictures.py build/demo/report.html docs/images
and that of columns from a report of the run of docs/relations.md, with --chains 4:
  build/venv/bin/python scripts/report_pictures.py states.html docs/images
Needs selenium and Pillow, and Debian's chromium and chromium-driver."""

import base64
import io
import pathlib
import sys
import time

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Name of the file, address, size of the window, dark or not.
PICTURES = [
    ("report-overview", "overview", 1280, 860, False),
    ("report-components", "components/14", 1280, 900, False),
    ("report-entity", "entities/country/Switzerland", 1280, 1150, False),
    ("report-diagnostics", "diagnostics", 1280, 900, False),
    ("report-fit", "fit", 1280, 1500, False),
    ("report-networks", "networks", 1280, 860, False),
    ("report-cards", "cards", 1280, 1000, True),
    ("report-narrow", "components/14", 400, 860, False),
]
PICTURES_OF_COLUMNS = [("report-columns", "columns/subject/75", 1280, 1020, False)]


def take(browser, file, address, width, height, dark):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.get("about:blank")
    browser.get(f"{file.resolve().as_uri()}#{address}")
    time.sleep(1)
    png = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    # A palette of 256 colours: a third of the size, and nobody sees a difference.
    return Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB").quantize(256, dither=Image.Dither.NONE)


def main():
    file, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]:
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    browser.get(file.resolve().as_uri())
    time.sleep(1)
    columns = browser.find_elements("css selector", "nav a[href='#columns']")
    for name, *how in PICTURES_OF_COLUMNS if columns else PICTURES:
        take(browser, file, *how).save(folder / f"{name}.png", optimize=True)
    browser.quit()


main()
