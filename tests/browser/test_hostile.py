"""Labels and names of modes and runs come from anybody: they are shown as text, and lead where they say."""

from __future__ import annotations

from urllib.parse import quote

import pytest

LONG = "abcdefghij" * 30
LABELS = [
    "<script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "</script><script>window.pwned=1</script>",
    "<!--<script>",
    "&lt;b&gt;bold&amp;",
    "{{script}}",
    "javascript:window.pwned=1",
    "'\"`",
    "${window.pwned=1}",
    LONG,
    "שלום עולם",
    "\u202eright to left\u202c",
    "🦆👩‍👩‍👧",
    "100% of it/and more//",
    "%2F%00%",
    "#fragment?query=1&x",
    "__proto__",
    "constructor",
    "toString",
    "trailing blanks   ",
    "Côte d'Ivoire",
    "Ångström",
    "back\\slash",
    "nul-free\x7fcontrol\x01",
]
MODES = ['"><b>{{data}}<script>window.pwned()<', "constructor", "50%&lt;#a b"]
RUN = "a b\"'><script>window.pwned=1<&lt;%2e{{data}}"


@pytest.fixture(scope="session")
def hostile(made, ztp):
    """The report of a run that has all of them."""

    def make_data(path):
        rows = ["#" + "\t".join(MODES)]
        # Two blocks, so that every entity has neighbours and unseen cells.
        for i, label in enumerate(LABELS):
            rows += [f"{label}\t{LABELS[j]}\tt{j % 5}" for j in range(i % 2, len(LABELS), 2) if (i + j) % 3]
        path.write_text("\n".join(rows) + "\n")

    data = made.once("hostile.tsv", make_data)
    run = made.once(
        RUN, lambda path: ztp("fit", data, "--rank", 4, "--sweeps", 60, "--chains", 2, "--holdout", 0.1, "--out", path)
    )
    return made.once("hostile.html", lambda path: ztp("report", run, "-o", path))


def test_every_view_opens_and_nothing_runs(hostile, made, open, ztp):
    page = open(hostile)
    for width in (1280, 400):
        page.look(width, False)
        for view in page.views():
            page.go(view)
            assert page.faults_of_layout() == [], (view, width)
    page.script("dispatchEvent(new Event('beforeprint'))")  # all of it
    assert page.script("return window.pwned") is None
    assert page.script("return Object.prototype.pwned") is None
    assert page.script("return document.querySelectorAll('main img, main script, main b').length") == 0
    assert page.script("return document.title").endswith(f"{RUN} · ztp report")
    assert RUN in page.script("return document.getElementById('title').textContent")
    compared = made.once(
        "hostile-compared.html",
        lambda path: ztp("report", "--compare", made.folder / RUN, made.folder / RUN, "-o", path),
    )
    page = open(compared)
    for view in page.views():
        page.go(view)
        assert page.faults_of_layout() == [], view
    assert page.script("return window.pwned") is None


@pytest.mark.parametrize("label", LABELS)
def test_an_entity_is_found_and_shown(label, hostile, open):
    page = open(hostile, address="entities")
    assert label in page.data["modes"][0]["labels"]
    address = f"entities/{quote(MODES[0], safe='')}/{quote(label, safe='')}"
    page.go(address)
    assert page.script("return document.querySelector('.entity-name').textContent") == label
    assert page.script("return document.querySelectorAll('#unseen tbody tr').length") == 5
    page.go("entities")
    field = page.one("#search")
    page.script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", field, label)
    hits = page.texts(".hits li span:first-child")
    assert label in hits
    page.script(
        "document.querySelectorAll('#search-hits li')[arguments[0]].dispatchEvent(new MouseEvent('mousedown'))",
        hits.index(label),
    )
    page.frames()
    assert page.script("return document.querySelector('.entity-name').textContent") == label
    # As a link of another one, and the same by going back.
    found = page.address()
    page.script("document.querySelector('#unseen a').click()")
    page.frames()
    assert page.address() != found
    assert page.script("return document.querySelectorAll('#entity [role=alert]').length") == 0
    page.browser.back()
    page.wait(lambda: page.address() == found, "the entity again")
    page.frames()
    assert page.script("return document.querySelector('.entity-name').textContent") == label
    assert page.script("return window.pwned") is None
    assert page.faults_of_layout() == []


def test_accents_do_not_matter(hostile, open):
    page = open(hostile, address="entities")
    for typed, label in (("cote d'ivoire", "Côte d'Ivoire"), ("CÔTE", "Côte d'Ivoire"), ("angstrom", "Ångström")):
        field = page.one("#search")
        field.clear()
        field.send_keys(typed)
        assert page.texts(".hits li span:first-child") == [label, label]  # in two modes
