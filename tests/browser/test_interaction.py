"""What can be pressed, typed and pointed at does what it says."""

from __future__ import annotations

import math

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser_page import Page
from shown import count, fixed, percent, short


def component(page: Page, number: int) -> int:
    return next(i for i, c in enumerate(page.data["components"]["list"]) if c["number"] == number)


def number_of(page: Page, index: int) -> int:
    return page.data["components"]["list"][index]["number"]


def by_relevance(page: Page, index: int, k: int, relevance: float) -> list[tuple[str, float]]:
    """Entities of a component by the relevance of Sievert and Shirley (2014), from the data that the page was given."""
    bars = page.data["components"]["bars"][index][k]
    mode = page.data["modes"][k]

    def score(i: int) -> float:
        value, overall = bars["value"][i], mode["overall"][bars["entity"][i]]
        return relevance * math.log(value) + (1 - relevance) * math.log(value / overall)

    order = sorted(
        (i for i, value in enumerate(bars["value"]) if value > 0), key=lambda i: (-score(i), bars["entity"][i])
    )
    return [(mode["labels"][bars["entity"][i]], bars["value"][i]) for i in order]


def circles(page: Page) -> list[str]:
    return page.script(
        "return Array.from(document.querySelectorAll('g.component'), (g) => g.getAttribute('transform'))"
    )


def heading(page: Page) -> str:
    return page.one(".component-name").text


def test_the_slider_reorders_the_bars(world):
    page = world("components/2")
    index = component(page, 2)
    orders = set()
    for relevance in (0, 0.5, 1):
        page.script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
            page.one("#relevance"),
            relevance,
        )
        page.frames()
        assert page.one("output").text == f"{relevance:.1f}"
        for k, mode in ((0, "country"), (1, "organisation")):
            shown = page.bars(mode)
            wanted = by_relevance(page, index, k, relevance)[: len(shown)]
            assert [number for _, number in shown] == [percent(value, 2) for _, value in wanted]
            assert all(
                full.startswith(label.removesuffix("…")) for (label, _), (full, _) in zip(shown, wanted, strict=True)
            )
            orders.add((mode, tuple(shown)))
    assert len(orders) == 6, "the slider changes nothing"
    page.one("#relevance").send_keys(Keys.ARROW_LEFT)  # and from the keyboard
    assert page.one("output").text == "0.9"


def test_tooltips_of_bars_and_circles(world):
    page = world("components/1")
    index = component(page, 1)
    c, mode = page.data["components"], page.data["modes"][0]
    label, value = by_relevance(page, index, 0, 1)[0]
    place = mode["labels"].index(label)
    at = c["bars"][index][0]["entity"].index(place)
    low, high = c["bars"][index][0]["q05"][at], c["bars"][index][0]["q95"][at]
    overall = mode["overall"][place]
    assert page.hover(page.figure("country").find_element(By.CSS_SELECTOR, "g.bar")) == [
        label,
        f"{percent(value, 2)} of the component [{percent(low, 2)}, {percent(high, 2)}]",
        f"{percent(overall, 2)} overall: {short(value / overall)} times as much here",
        f"{count(mode['ones'][place])} ones",
    ]
    page.leave()
    one = c["list"][index]
    lines = page.hover(page.one("g.component[data-key='1']"))
    assert lines[0] == heading(page)
    assert lines[1:] == [
        f"weight {fixed(one['weight'], 1)} [{fixed(one['q05'], 1)}, {fixed(one['q95'], 1)}]",
        f"{percent(one['share'])} of the ones",
        f"stability {fixed(one['stability'], 2)}",
    ]
    page.leave()


def test_tooltips_of_other_plots(world):
    page = world("fit")
    b = page.data["fit"]["weighted"] or page.data["fit"]["reliability"]
    assert page.hover(page.figure("Reliability").find_elements(By.CSS_SELECTOR, "g.bin circle")[0]) == [
        f"predicted {percent(b[0]['probability'], 2)}",
        f"observed {percent(b[0]['share'], 2)} [{percent(b[0]['low'], 2)}, {percent(b[0]['high'], 2)}]",
        f"{percent(b[0]['expected'], 2)} would be right",
        f"{count(b[0]['cells'])} cells",
    ]
    page.leave()
    assert page.hover(page.figure("ROC").find_element(By.CSS_SELECTOR, ".hit"))[0].startswith("true positive rate ")
    page.leave()
    page.go("components/1")
    lines = page.hover(page.figure("period").find_element(By.CSS_SELECTOR, ".hit"))  # in its middle
    line, labels = page.data["components"]["lines"][component(page, 1)][2], page.data["modes"][2]["labels"]
    j = len(labels) // 2
    assert lines[:2] == [
        labels[j],
        f"{percent(line['value'][j], 2)} of the component [{percent(line['q05'][j], 2)}, {percent(line['q95'][j], 2)}]",
    ]
    page.leave()


def test_a_circle_chooses_its_component(world):
    page = world("components")
    third = number_of(page, 2)
    before = page.bars("country")
    page.one(f"g.component[data-key='{third}']").click()
    page.frames()
    assert page.address() == f"components/{third}"
    assert heading(page).startswith(f"{third}: ")
    assert page.bars("country") != before
    assert page.one("g.component.chosen").get_attribute("data-key") == str(third)
    assert page.script("return document.querySelectorAll('g.component[aria-pressed=true]').length") == 1


def test_arrow_keys_on_the_map(world):
    page = world("components")
    page.script("document.querySelector('g.component').focus()")
    for key, index in (
        (Keys.ARROW_RIGHT, 1),
        (Keys.ARROW_DOWN, 2),
        (Keys.ARROW_LEFT, 1),
        (Keys.ARROW_UP, 0),
        (Keys.ARROW_LEFT, -1),
    ):
        page.keys(key)
        wanted = number_of(page, index)
        page.wait(lambda wanted=wanted: page.address() == f"components/{wanted}", f"component {wanted}")
        # The focus goes along, or the next key would go nowhere.
        page.wait(
            lambda wanted=wanted: page.script("return document.activeElement.dataset.key") == str(wanted), "the focus"
        )
    page.script("document.querySelector('g.component').focus()")
    page.keys(Keys.ENTER)
    page.wait(lambda: page.address() == f"components/{number_of(page, 0)}", "the first component")


def test_previous_and_next(world):
    page = world("components")
    previous, following = (page.one(f"[aria-label='{name} component']") for name in ("Previous", "Next"))
    for button, index in ((following, 1), (following, 2), (previous, 1), (previous, 0), (previous, -1), (following, 0)):
        button.click()
        page.frames()
        assert heading(page).startswith(f"{number_of(page, index)}: ")
        assert page.address() == f"components/{number_of(page, index)}"


def test_alike_in_moves_the_circles(world):
    page = world("components")
    places = []
    for text in ("all modes", "country", "organisation", "period"):
        page.choose("#similar-by", text)
        places.append(circles(page))
    assert len({tuple(p) for p in places}) == 4
    page.choose("#similar-by", "all modes")
    assert circles(page) == places[0], "the map is not the same every time"


def test_cards_are_ordered_and_lead_to_components(world):
    page = world("cards")
    components = page.data["components"]["list"]
    for order, wanted in {
        "number": sorted(c["number"] for c in components),
        "stability": [c["number"] for c in sorted(components, key=lambda c: -c["stability"])],
        "weight": [c["number"] for c in components],
    }.items():
        page.choose("#card-order", order)
        shown = page.script(
            "return Array.from(document.querySelectorAll('.cards > *'),"
            " (card) => Number(card.dataset.component ?? -card.dataset.index))"
        )
        assert [n if n > 0 else components[-n]["number"] for n in shown] == wanted
        assert shown[0] > 0, "the first card is not made"
    page.one(".card h3 a").click()
    page.frames()
    assert heading(page).startswith(f"{components[0]['number']}: ")


def test_cards_come_as_one_scrolls(world):
    page = world("cards")
    assert page.all(".card.waiting")
    page.script("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait(lambda: page.all(".card:last-child .bar"), "the last card")


def test_the_table_of_diagnostics_is_sorted(world):
    page = world("diagnostics")

    def column(i: int) -> list[float]:
        texts = page.texts(f"#quantities tbody td:nth-child({i})")
        return [float(text.replace("−", "-").replace(",", "")) for text in texts if text[0] in "−0123456789"]

    for i, name in ((5, "R-hat"), (6, "bulk ESS")):
        for order, reverse in (("descending", True), ("ascending", False)):
            button = next(b for b in page.all("button.sort") if b.text.startswith(name))
            button.click()
            values = column(i)
            assert len(values) > 5
            assert values == sorted(values, reverse=reverse)
            head = page.one(f"#quantities th:nth-child({i})")
            assert head.get_attribute("aria-sort") == order
            assert page.script("return arguments[0].contains(document.activeElement)", head)


def test_pointing_at_an_entity_shows_where_else_it_is(world):
    page = world("components/3")
    opacity = """return Object.fromEntries(Array.from(document.querySelectorAll('g.component'),
                   (g) => [g.dataset.key, g.querySelector('circle').style.fillOpacity]))"""
    assert set(page.script(opacity).values()) == {""}
    page.hover(page.figure("country").find_elements(By.CSS_SELECTOR, ".bar")[0])
    lit = {number: float(value) for number, value in page.script(opacity).items()}
    place = page.data["components"]["bars"][component(page, 3)][0]["entity"][0]
    of = page.data["entities"][0]
    first, end = of["start"][place], of["start"][place + 1]
    shares = dict(zip(of["component"][first:end], of["share"][first:end], strict=True))
    for i, one in enumerate(page.data["components"]["list"]):
        assert lit[str(one["number"])] == pytest.approx(0.05 + 0.9 * shares.get(i, 0) ** 0.5, abs=1e-4)
    page.leave()
    assert set(page.script(opacity).values()) == {""}


def test_components_can_be_chosen_by_name(world):
    page = world("components")
    number = number_of(page, 4)
    page.choose("#component", next(o for o in page.texts("#component option") if o.startswith(f"{number}: ")))
    assert page.address() == f"components/{number}"
    assert heading(page).startswith(f"{number}: ")


def test_a_quantity_of_the_table_draws_its_trace(world):
    page = world("diagnostics")
    page.browser.find_elements(By.CSS_SELECTOR, "#quantities button.plain")[1].click()
    page.frames()
    assert page.figure(f"Trace: {page.data['diagnostics']['quantities'][1]['name']}")


def test_the_view_of_entities_remembers_the_last_one(world):
    page = world("entities/country/France")
    page.go("fit")
    page.browser.find_element(By.CSS_SELECTOR, "nav a[href='#entities']").click()
    page.wait(lambda: page.texts(".entity-name") == ["France"], "the entity")


def test_another_quantity_redraws_trace_and_ranks(world):
    page = world("diagnostics")
    curves = (
        "return Array.from(document.querySelectorAll('#view-diagnostics .curve.trace'),"
        " (curve) => curve.getAttribute('d'))"
    )
    bins = (
        "return Array.from(document.querySelectorAll('#view-diagnostics figure:nth-of-type(2) .column'),"
        " (c) => c.getAttribute('y'))"
    )
    ranked = {ranks["name"] for ranks in page.data["diagnostics"]["ranks"]}
    names = [trace["name"] for trace in page.data["diagnostics"]["traces"] if trace["name"] in ranked]
    cells = {q["name"]: f"cell {', '.join(q['cell'])}" for q in page.data["diagnostics"]["quantities"] if q["cell"]}
    drawn = []
    for name in names[:1] + names[2:4]:
        page.choose("#quantity", cells.get(name, name))
        shown = cells.get(name, name)
        assert page.figure(f"Trace: {shown}")
        assert page.figure(f"Rank plots: {shown}")
        drawn.append((page.script(curves), page.script(bins)))
        assert len(drawn[-1][0]) == 2, "a line for each chain"
    for a, b in zip(drawn, drawn[1:], strict=False):
        assert a[0] != b[0]
        assert a[1] != b[1]


def test_colours(world):
    page = world("overview")
    page.script("localStorage.clear()")
    background = (
        "return getComputedStyle(document.body).backgroundColor +"
        " getComputedStyle(document.documentElement).backgroundColor"
    )
    light = page.script(background)
    page.look(1280, True)
    page.wait(lambda: page.script("return document.documentElement.dataset.colors") == "dark", "the dark colours")
    dark = page.script(background)
    assert light != dark
    seen = []
    button = page.browser.find_element(By.ID, "theme")
    for _ in range(3):
        button.click()
        seen.append((page.script("return document.documentElement.dataset.theme"), page.script(background)))
    assert seen == [("light", light), ("dark", dark), ("auto", dark)]
    assert button.get_attribute("aria-label").startswith("Colours: auto")


def test_addresses_open_directly_and_the_back_button_works(world):
    page = world("entities/country/France")
    assert page.one(".entity-name").text == "France"
    page.go("components/3")
    assert heading(page).startswith("3: ")
    page.browser.find_element(By.CSS_SELECTOR, "nav a[href='#fit']").click()
    page.wait(lambda: page.address() == "fit", "the view of the fit")
    page.browser.back()
    page.wait(lambda: page.address() == "components/3", "the component")
    page.frames()
    assert heading(page).startswith("3: ")
    page.browser.back()
    page.wait(lambda: page.address() == "entities/country/France", "the entity")
    page.frames()
    assert page.one(".entity-name").text == "France"
    page.browser.forward()
    page.wait(lambda: page.address() == "components/3", "the component again")


@pytest.mark.parametrize(
    "address",
    ["components/99", "components/x", "nonsense", "entities/country/Atlantis", "entities/nothing/at all", "%"],
)
def test_addresses_that_lead_nowhere(address, world):
    page = world(address)
    assert page.one("").is_displayed()
    if address.startswith("entities"):
        assert "The report has no" in page.one("[role=alert]").text


def test_only_matches_that_differ(made, open):
    page = open(made.report("compared"), address="matches")
    matches = page.data["matches"]
    assert len(page.all(".card")) == len(matches)
    page.one("#only-different").click()
    page.frames()
    different = [m for m in matches if not m["a"] or not m["b"] or m["overlap"] < 0.8]
    assert len(page.all(".card")) == len(different)
    page.go("compare")
    page.one("circle.dot").click()
    page.frames()
    number = page.address().removeprefix("matches/")
    card = page.one(f"#match-{number}")
    page.wait(
        lambda: 0 <= page.script("return arguments[0].getBoundingClientRect().top", card) < 800,
        "the card in the window",
    )
