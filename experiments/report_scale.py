#!/usr/bin/env python3
"""How large is a report of 100 components and 100,000 entities, how long does it take to make, and how soon can it be
used?

Simulates a tensor, gives its entities names of twelve letters that do not compress well, fits it for a few sweeps,
makes the report and opens it in Chromium (headless, several times). Needs selenium, and Debian's chromium and
chromium-driver:
  build/venv/bin/python experiments/report_scale.py
"""

import argparse
import hashlib
import pathlib
import re
import statistics
import subprocess
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


def make_run(ztp, out, dims, ones, rank):
    subprocess.run([ztp, "simulate", "--dims", ",".join(map(str, dims)), "--ones", str(ones), "--rank", str(rank),
                    "--no-truth", "--force", "--out", out / "simulated"], check=True, stdout=subprocess.DEVNULL)
    name = lambda mode, number: hashlib.sha256(f"{mode} {number}".encode()).hexdigest()[:12]
    with open(out / "simulated/tensor.tsv") as lines, open(out / "ones.tsv", "w") as named:
        named.write(next(lines))
        for line in lines:
            named.write("\t".join(name(k, number) for k, number in enumerate(line.split())) + "\n")
    labels = []
    for k, size in enumerate(dims):
        path = out / f"labels-{k + 1}.txt"
        path.write_text("".join(f"{name(k, number)}\n" for number in range(1, size + 1)))
        labels += ["--labels", f"mode{k + 1}={path}"]
    subprocess.run([ztp, "fit", out / "ones.tsv", *labels, "--rank", str(rank), "--chains", "1", "--sweeps", "40",
                    "--burn-in", "20", "--keep-every", "1", "--draws", "20", "--holdout", "0.05", "--force", "--out", out / "run"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def milliseconds_to_use(file, times):
    """From the beginning of the navigation until the first view is drawn and everything answers."""
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,800"]:
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    ready = """const done = arguments[0], begin = performance.now();
               const look = () => document.documentElement.dataset.ready === "yes" || performance.now() - begin > 60000
                 ? requestAnimationFrame(() => done(performance.now())) : setTimeout(look, 5);
               look();"""
    found = []
    for _ in range(times):
        browser.get("about:blank")
        browser.get(file.resolve().as_uri())
        found.append(browser.execute_async_script(ready))
    browser.quit()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ztp", default="build/release/ztp")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/report-scale"))
    parser.add_argument("--dims", default="50000,40000,10000")
    parser.add_argument("--ones", type=int, default=1000000)
    parser.add_argument("--rank", type=int, default=100)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    dims = [int(n) for n in given.dims.split(",")]
    make_run(given.ztp, given.out, dims, given.ones, given.rank)
    begin = time.perf_counter()
    said = subprocess.run([given.ztp, "report", given.out / "run", "-o", given.out / "report.html"], check=True,
                          capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    size = (given.out / "report.html").stat().st_size
    waits = milliseconds_to_use(given.out / "report.html", given.times)
    print(f"{given.rank} components, {sum(dims)} entities: {size / 1e6:.1f} MB, made in {seconds:.1f} s")
    print(f"usable after {statistics.median(waits) / 1000:.2f} s ({min(waits) / 1000:.2f} to {max(waits) / 1000:.2f})")
    for note in re.findall("note: (.*)", said.stderr):
        print(note)


main()
