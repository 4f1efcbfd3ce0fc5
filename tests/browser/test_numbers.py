"""The numbers on the page are those of the command line."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from shown import count, fixed, percent, short, six

WITH_COMPONENTS = ["world", "count", "pair", "online"]


@pytest.mark.parametrize("name", WITH_COMPONENTS)
def test_components_and_their_top_entities(name, made, open, ztp):
    expected = ztp.json("components", made.run(name), "--top", 14)
    page = open(made.report(name), address="components")
    list_of_page = page.data["components"]["list"]
    assert sorted(c["number"] for c in list_of_page if not c["network_only"]) == sorted(
        c["component"] for c in expected
    )
    modes = [mode["name"] for mode in page.data["modes"] if not mode["ordered"]]
    word = "positive cells" if name == "count" else "ones"
    for c in expected:
        page.go(f"components/{c['component']}")
        stability = "" if c["stability"] is None else f" · stability {fixed(c['stability'], 2)}"
        weight = f"weight {fixed(c['weight'], 1)} [{fixed(c['weight_q05'], 1)}, {fixed(c['weight_q95'], 1)}]"
        assert (
            page.one(".map-and-bars .facts").text == f"{weight} · {percent(six(c['share']))} of the {word}{stability}"
        )
        for mode in modes:
            values = [percent(six(entity["value"]), 2) for entity in c["top"][mode] if entity["value"] > 0]
            shown = page.bars(mode)
            # Those that are there by the prior alone are left out.
            assert 0 < len(shown) <= 14
            assert [number for _, number in shown] == values[: len(shown)]
            for (label, _), entity in zip(shown, c["top"][mode], strict=False):
                assert entity["label"].startswith(label.removesuffix("…"))


def test_cards(made, open, ztp):
    expected = {c["component"]: c for c in ztp.json("components", made.run("world"), "--top", 6)}
    page = open(made.report("world"), address="cards")
    page.script(
        "window.dispatchEvent(new Event('beforeprint')); location.hash = 'cards'"
    )  # so that all cards are there
    facts = page.script(
        "return Array.from(document.querySelectorAll('.card'), (card) => [card.dataset.component,"
        " card.querySelector('.facts').textContent, card.querySelector('.badge').textContent,"
        " Array.from(card.querySelectorAll('.bar .number'), (n) => n.textContent)])"
    )
    assert len(facts) == len(expected)
    for number, text, badge, values in facts:
        c = expected[int(number)]
        weight = f"weight {fixed(c['weight'], 1)} [{fixed(c['weight_q05'], 1)}, {fixed(c['weight_q95'], 1)}]"
        assert text == f"{weight} · {percent(six(c['share']))} of the ones"
        assert badge == f"stability {fixed(c['stability'], 2)}"
        top = [[percent(six(e["value"]), 2) for e in c["top"][mode]] for mode in ("country", "organisation")]
        assert any(values == top[0] + top[1][:n] for n in range(1, 7))


def scores(text):
    """Of `ztp evaluate`: the test cells, the scores of the model and of popularity, and the head of the list."""
    as_shown = re.sub(r"-(?=\d)", "−", text).replace("not defined", "–")
    lines = [re.split(r"\s{2,}", line.strip()) for line in as_shown.splitlines()]
    cells = next(line[1] for line in lines if line[0] == "test cells")
    table = {line[0]: line[1:] for line in lines if len(line) == 3 and not line[0].startswith("first ")}
    return cells, table, [line for line in lines if line[0].startswith("first ")]


@pytest.mark.parametrize("name", ["world", "rival", "count", "pair", "online", "tied"])
def test_metrics(name, made, open, ztp):
    cells, printed, head = scores(ztp("evaluate", made.run(name)))
    assert len(printed) == 11 and (len(head) == 3 or name == "rival")
    page = open(made.report(name))
    for view in ("overview", "fit"):
        page.go(view)
        tiles = dict(zip(page.texts(".tile span:last-child"), page.texts(".tile .big"), strict=True))
        assert len(tiles) == 6 and tiles == {title: printed[title][0] for title in tiles}
    assert {row[0]: row[1:] for row in page.rows("#scores")} == printed
    if head:
        assert page.rows("#head") == head
    ones, zeros = cells.replace(" ones", "").replace(" zeros", "").split(", ")
    told = f"For {ones} ones and {zeros} zeros that the fit has not seen."
    assert all(note.startswith(told) for note in page.texts(".tile-note"))
    assert (
        page.script("return document.querySelector('#view-fit figure .inside').textContent")
        == f"AUC {printed['AUC-ROC'][0]}"
    )


def test_checks(made, open):
    """The data beside the replicates: a row for each number, and a sentence for each check."""
    page = open(made.report("world"), address="fit")
    checks = page.data["checks"]
    numbers = [p[name] for p in checks["pairs"] for name in ("shared", "closest")]
    numbers += [d[name] for d in checks["changes"] for name in ("stay", "appear", "disappear")]
    badges = {"within": "within", "outside": "just outside", "far": "far outside"}
    cells = page.texts("#checks td")
    assert len(cells) == 5 * len(numbers) == 5 * 9
    for i, number in enumerate(numbers):
        said = [f"{short(number['low'])} to {short(number['high'])}", badges[number["place"]]]
        assert cells[5 * i + 2 : 5 * i + 5] == [short(number["observed"]), *said]
    sentences = page.texts(".findings li")
    changes = checks["changes"][0]["changes"]
    assert len(sentences) == 4
    assert sentences[3] == (
        f"The data have {count(changes['observed'])} changes from one period to the next; 20 replicates have "
        f"{short(changes['low'])} to {short(changes['high'])}. The model draws every cell independently, so it "
        "does not know that ones last from one period to the next."
    )


@pytest.mark.parametrize("name", ["world", "plain", "rival", "tied"])
def test_diagnostics(name, made, open, ztp):
    told = ztp.json("diagnose", made.run(name))
    expected = [(q["name"], q) for q in told["quantities"]]
    expected += [(f"cell {', '.join(q['cell'].values())}", q) for q in told["cells"]]
    page = open(made.report(name), address="diagnostics")
    for button in page.all("button"):
        if button.text.startswith("Show all"):
            button.click()
    rows = page.script(
        "return Array.from(document.querySelectorAll('#quantities tbody tr'), (row) =>"
        " Array.from(row.cells, (cell, i) =>"
        " i ? cell.textContent : cell.querySelector('span').firstChild.textContent))"
    )

    def row(name: str, quantity: dict) -> list[str]:
        q = {
            key: six(value) if isinstance(value, float) and key != "mean" else value for key, value in quantity.items()
        }
        digits = max(0, min(8, 1 - math.floor(math.log10(q["mcse"])))) if q["mcse"] else 4
        r_hat = "constant" if q["constant"] else fixed(None if q["r_hat"] is None else float(q["r_hat"]), 3)
        ess = [fixed(q[key], 0) for key in ("ess_bulk", "ess_tail")]
        return [
            name,
            fixed(q["mean"], digits),
            short(q["sd"]),
            short(q["mcse"]),
            r_hat,
            *ess,
            short(q["ess_per_second"]),
        ]

    assert sorted(rows) == sorted(row(*one) for one in expected)
    assert all(sentence in page.one(".verdict").text for sentence in told["sentences"])


def held_out_cells(run):
    """What the fit has held out: the outcome by the labels."""
    file = Path(run) / "test.tsv"
    if not file.exists():
        return {}
    lines = [line.split("\t") for line in file.read_text().splitlines() if not line.startswith("#")]
    return {tuple(line[:-1]): line[-1] for line in lines}


def part_text(part):
    """A component, or the columns of an entry of the core but those of one entity each."""
    if "component" in part:
        return part["component"]
    return " · ".join(str(column) for column in part["columns"].values() if isinstance(column, int))


@pytest.mark.parametrize(
    ("name", "given"),
    [("world", "country=France"), ("world", "country=United Kingdom"), ("world", "organisation=NATO"),
     ("world", "period=1990-94"),
     ("count", "mode1=3"), ("pair", "mode2=4"), ("online", "mode3=2"),
     ("tied", "subject=A person 3"), ("tied", "relation=<b>fears</b>"), ("learned", "object=B person 4")],
)  # fmt: skip
def test_unseen_cells(name, given, made, open, ztp):
    mode, label = given.split("=")
    page = open(made.report(name), address=f"entities/{mode}/{quote(label, safe='')}")
    printed = ztp("recommend", made.run(name), given, "--top", 5, "--json")
    expected = [json.loads(line) for line in printed.splitlines()]
    rows = page.script(
        "return Array.from(document.querySelectorAll('#unseen tbody tr'), (row) => Array.from(row.cells, (cell) =>"
        " cell.querySelector('.why') ? Array.from(cell.querySelectorAll('.why'), (part) => part.textContent) :"
        " cell.textContent))"
    )
    assert len(rows) == len(expected) == 5
    known = held_out_cells(made.run(name))
    tested = any(tuple(cell["cell"].values()) in known for cell in expected)
    for row, cell in zip(rows, expected, strict=True):
        outcome = known.get(tuple(cell["cell"].values()))
        p, low, high = (six(cell[key]) for key in ("probability", "q05", "q95"))
        assert row == [
            *(label for key, label in cell["cell"].items() if key != mode),
            percent(p),
            f"{percent(low)} to {percent(high)}",
            *([{"1": "it is a one", "0": "it is a zero", None: ""}[outcome]] if tested else []),
            [f"{part_text(part)} {percent(part['share'], 0)}" for part in cell["why"][:4]],
        ]
    assert [number for _, number in page.bars("Its most probable unseen cells")] == [
        percent(six(c["probability"])) for c in expected
    ]


@pytest.mark.parametrize("name", ["world", "rival", "count", "online", "tied"])
def test_provenance(name, made, open, ztp):
    info = ztp.json("info", made.run(name))
    page = open(made.report(name), address="provenance")
    facts = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
    assert facts["Command"] == info["command"]
    assert facts["Seed"] == str(info["options"]["seed"])
    assert facts["Data fingerprint"] == info["fingerprint"]
    assert facts["Made by"] == f"ztp {info['ztp_version']}"
    assert facts["Training ones"] == count(info["ones"])
    assert facts["Draws kept"] == count(info["draws"])
    assert facts["Began"] == info["created"].replace("T", " ").replace("Z", " UTC")
    assert facts["Held out"] == f"{count(info['test_ones'])} ones, {count(info['test_zeros'])} zeros"
    shown = page.rows("[aria-label=Options]")
    options = dict(shown)
    for key in ("rank", "sweeps", "seed", "holdout"):
        assert float(options[key]) == info["options"][key]


def test_comparison(made, open, ztp):
    page = open(made.report("compared"), address="matches")
    runs = [
        {c["component"]: c for c in ztp.json("components", made.run(name), "--top", 1)} for name in ("world", "other")
    ]
    cards = page.script(
        "return Array.from(document.querySelectorAll('.card .facts'), (facts) =>"
        " Array.from(facts.childNodes).filter((n) => n.data)"
        ".map((n) => n.data))"
    )
    matches = page.data["matches"]
    assert len(cards) == len(matches)
    for match, lines in zip(matches, cards, strict=True):
        for i, side in enumerate("ab"):
            title = page.data["runs"][i]["title"]
            if match[side] is None:
                near = fixed(match["overlap"], 2)
                assert lines[i] == f"{title}: has no counterpart; the nearest has an overlap of {near}"
                continue
            c = runs[i][match[side]["number"]]
            weight = f"weight {fixed(c['weight'], 1)} [{fixed(c['weight_q05'], 1)}, {fixed(c['weight_q95'], 1)}]"
            share = percent(match[side]["weight_share"])
            assert lines[i] == f"{title}: component {c['component']}, {weight}, {share} of all"
    assert sum(len(run) for run in runs) == sum((m["a"] is not None) + (m["b"] is not None) for m in matches)
    page.go("compare")
    sides = page.rows("#sides")
    printed = {}
    for name in ("world", "other"):
        for title, (value, _) in scores(ztp("evaluate", made.run(name)))[1].items():
            printed.setdefault(title, []).append(value)
    found = {title.removesuffix(" *"): values for title, *values in sides}
    assert printed and all(found[title] == values for title, values in printed.items())
