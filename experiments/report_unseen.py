#!/usr/bin/env python3
"""How often are the unseen cells of a report those that `ztp recommend` finds, which searches all cells and all draws?
  experiments/report_unseen.py RUN [--entities 60] [--ztp build/release/ztp]
"""

import argparse
import base64
import gzip
import json
import pathlib
import re
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument(
        "--entities", type=int, default=60, help="of each mode, evenly spread over those that have cells"
    )
    parser.add_argument("--ztp", default="build/release/ztp")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "report.html"
        subprocess.run([given.ztp, "report", given.run, "-o", page], check=True, stdout=subprocess.DEVNULL)
        packed = re.search('<script id="data" type="text/plain">([^<]*)<', page.read_text()).group(1)
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    modes = data["modes"]
    compared = same = 0
    for k, mode in enumerate(modes):
        unseen = data["entities"][k]["unseen"]
        places = sorted(unseen, key=int)
        step = max(1, len(places) // given.entities)
        for place in places[::step][: given.entities]:
            said = subprocess.run([given.ztp, "recommend", given.run, f"{mode['name']}={mode['labels'][int(place)]}",
                                   "--top", "5", "--json"], check=True, capture_output=True, text=True)
            exact = [list(json.loads(line)["cell"].values()) for line in said.stdout.splitlines()]
            ours = [[p if isinstance(p, str) else modes[i]["labels"][p] for i, p in enumerate(cell["cell"])]
                    for cell in unseen[place]]
            compared += 1
            same += sorted(ours) == sorted(exact)
    print(f"{given.run}: {same} of {compared} entities have the same cells")


main()
