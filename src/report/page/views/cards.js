// ---- views/cards.js: every component at a glance, a panel for each mode.

const cardEntities = 6;

function card(index) {
  const c = report.components.list[index];
  const badge = c.stability === null ? "" :
                                       h("span", {
                                         class: `badge ${c.stability >= stable ? "good" : "fair"}`,
                                         title: "How closely the other chains have it, too: 0 to 1"
                                       },
                                         `stability ${fixed(c.stability, 2)}`);
  const panels = report.modes.map(
      (mode, k) => (lineOf(index, k) ? lineFigure(mode, k, () => index, true) : figure({
        title: mode.name,
        subject: `component ${c.number}`,
        level: "h4",
        label: `Bars: ${mode.name} in component ${c.number}. ${
            barsOf(index, k, 1, 3).map((d) => `${d.label} ${percent(d.value, 2)}`).join("; ")}`,
        height: barsHeight(Math.min(cardEntities, report.components.bars[index][k].entity.length), false),
        interactive: true,
        draw: (svg, width) => bars(
            svg, width,
            barsOf(index, k, 1, cardEntities)
                .map((d) => ({
                       ...d,
                       key: d.entity,
                       overall: undefined,
                       press: () => goTo("entities", mode.name, d.label),
                       lines: () =>
                           [visible(d.label),
                            `${percent(d.value, 2)} of the component [${percent(d.low, 2)}, ${percent(d.high, 2)}]`,
                            `${percent(d.overall, 2)} overall`]
                     })),
            {axis: false}),
        data: () => [
            ["entity", "value", "q05", "q95", "overall"],
            ...barsOf(index, k, 1, report.components.bars[index][k].entity.length)
                .map((d) => [d.label, d.value, d.low, d.high, d.overall])],
      })));
  return h(
      "article", {class: "card", "data-component": c.number},
      h("header", {}, h("h3", {}, h("a", {href: `#components/${c.number}`}, `${c.number}`), " ", groupName(index)),
        badge),
      h("p", {class: "facts"},
        `weight ${fixed(c.weight, 1)} [${fixed(c.q05, 1)}, ${fixed(c.q95, 1)}] · ${percent(c.share)} of the ones${
            c.network_only ? " · used only by a network" : ""}`),
      panels);
}

// Cards are made when they come near the window: a hundred of them at once would take a while.
function cardsView(section) {
  const order =
      h("select", {id: "card-order", onchange: fill}, h("option", {value: "weight"}, "weight"),
        h("option", {value: "stability"}, "stability"), h("option", {value: "number"}, "number"));
  const grid = h("div", {class: "cards"});
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries)
      if (entry.isIntersecting) make(entry.target);
  }, {rootMargin: "600px"});
  function make(place) {
    if (place.dataset.index === undefined) return;
    near.unobserve(place);
    place.replaceWith(card(Number(place.dataset.index)));
  }
  function fill() {
    near.disconnect();
    const list = report.components.list;
    const key = {
      weight: (i) => i,
      stability: (i) => -(list[i].stability === null ? -1 : list[i].stability),
      number: (i) => list[i].number
    }[order.value];
    const indices = d3.range(list.length).sort((a, b) => key(a) - key(b));
    grid.replaceChildren(...indices.map((i) => h("article", {class: "card waiting", "data-index": i})));
    grid.querySelectorAll(".waiting").forEach((place) => near.observe(place));
  }
  section.append(
      h("div", {class: "controls"}, labelFor("card-order", "Order by "), order,
        h("span", {class: "hint"},
          `${plural(report.components.list.length, "component")} in use, ${report.components.empty} empty`)),
      grid);
  fill();
  return {all: () => grid.querySelectorAll(".waiting").forEach(make)};
}
