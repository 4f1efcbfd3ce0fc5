// ---- views/components.js: the entities of a component, linked to the map of all.

function indexOfNumber(number) {
  return report.components.list.findIndex((c) => String(c.number) === String(number));
}

// The bars of a mode in the group index(). What is pointed at is shown in the map of all, too.
function entityBars({index, relevance, most, map, title}, mode, k) {
  const subject = () => `${groupWord()} ${groupNumber(index())}`;
  return figure({
    title: title || mode.name,
    subject,
    label: () => `Bars: ${mode.name} in ${subject()}. ${
        barsOf(index(), k, relevance(), 5)
            .map((d) => `${d.label} ${percent(d.value, 2)}, overall ${percent(d.overall, 2)}`)
            .join("; ")}`,
    height: () => barsHeight(Math.min(most, barsThere(index(), k))),
    interactive: true,
    draw: (svg, width) => {
      const items =
          barsOf(index(), k, relevance(), most)
              .map((d) => ({
                     ...d,
                     key: d.entity,
                     press: () => goTo("entities", mode.name, d.label),
                     name: `${d.label}: ${percent(d.value, 2)} of the ${groupWord()}, ${
                         percent(d.overall, 2)} overall. Go to the entity.`,
                     lines: () =>
                         [visible(d.label),
                          `${percent(d.value, 2)} of the ${groupWord()} [${percent(d.low, 2)}, ${percent(d.high, 2)}]`,
                          `${percent(d.overall, 2)} overall: ${short(d.value / d.overall)} times as much here`,
                          plural(mode.ones[d.entity], oneWord())],
                   }));
      bars(svg, width, items)
          .on("mouseenter.light", (d) => map.light(k, d.entity))
          .on("mouseleave.light", () => map.light());
    },
    data: () => [
        ["entity", "value", "q05", "q95", "overall"],
        ...barsOf(index(), k, relevance(), barsThere(index(), k))
            .map((d) => [d.label, d.value, d.low, d.high, d.overall])],
  });
}

// The slider between what is special in a group and what is large there. change(relevance) is called when it moves.
function relevanceControl(id, change) {
  const output = h("output", {}, "1.0");
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.1,
    value: 1,
    id,
    oninput: () => {
      output.textContent = Number(slider.value).toFixed(1);
      change(Number(slider.value));
    }
  });
  return h(
      "div", {class: "controls"}, labelFor(id, "Relevance"), h("span", {class: "hint"}, "what is special here"), slider,
      h("span", {class: "hint"}, "what is large here"), output);
}

function barsLegend() {
  return legend([
    {name: `in this ${groupWord()}`, color: "var(--accent)", shape: "bar"},
    {name: "overall", color: "var(--overall)", shape: "thin"}, {name: "90 % interval", shape: "whisker"}
  ]);
}

function componentsView(section) {
  const c = report.components;
  const state = {index: 0, relevance: 1, by: "all"};
  const most = report.modes.length > 3 ? 10 : 14;
  const step = (by) => replaceAddress("components", c.list[(state.index + by + c.list.length) % c.list.length].number);
  const map = mapFigure(state, (index) => goTo("components", c.list[index].number), step);
  const plots = report.modes.map(
      (mode, k) => (
          lineOf(0, k) ? lineFigure(mode, k, () => state.index) :
                         entityBars({index: () => state.index, relevance: () => state.relevance, most, map}, mode, k)));

  const heading = h("h3", {class: "component-name", "aria-live": "polite"});
  const facts = h("p", {class: "facts"});
  const choice =
      h("select", {
        id: "component",
        "aria-label": "Component",
        onchange: () => goTo("components", c.list[choice.selectedIndex].number)
      },
        c.list.map((d, i) => h("option", {}, `${d.number}: ${groupName(i)}`)));
  const near =
      h("select", {
        id: "similar-by",
        onchange: () => {
          state.by = near.value === "all" ? "all" : Number(near.value);
          map.redraw();
        }
      },
        h("option", {value: "all"}, "all modes"), report.modes.map((mode, k) => h("option", {value: k}, mode.name)));

  section.append(h(
      "div", {class: "columns map-and-bars"},
      h("div", {}, h("div", {class: "controls"}, choice, labelFor("similar-by", "Similar in"), near), map,
        c.empty ?
            h("p", {class: "note"}, `${plural(c.empty, "further component")} ${c.empty === 1 ? "is" : "are"} empty.`) :
            ""),
      h("div", {},
        h("div", {class: "chooser"},
          h("button", {type: "button", "aria-label": "Previous component", onclick: () => step(-1)}, "‹"), heading,
          h("button", {type: "button", "aria-label": "Next component", onclick: () => step(1)}, "›")),
        facts, relevanceControl("relevance", (relevance) => {
          state.relevance = relevance;
          plots.forEach((plot) => plot.redraw());
        }), barsLegend(), h("div", {class: "bars-grid"}, plots))));

  return {
    show([number]) {
      const index = number === undefined ? state.index : indexOfNumber(number);
      state.index = index < 0 ? 0 : index;
      choice.selectedIndex = state.index;
      heading.textContent = `${c.list[state.index].number}: ${groupName(state.index)}`;
      facts.textContent = groupLines(state.index).slice(1).join(" · ");
      if (index < 0)
        facts.textContent = `There is no component ${number} in use: this is the largest. ${facts.textContent}`;
      map.redraw();
      plots.forEach((plot) => plot.redraw());
    },
  };
}

// An ordered mode: the line of a group with its band, and the overall line.
function lineFigure(mode, k, index, small = false) {
  const of = () => lineOf(index(), k);
  return figure({
    title: mode.name,
    subject: () => `${groupWord()} ${groupNumber(index())}`,
    level: small ? "h4" : "h3",
    label: () => {
      const {value} = of();
      const peak = value.indexOf(d3.max(value));
      return `Line over ${mode.name}, from ${mode.labels[0]} to ${mode.labels[mode.labels.length - 1]}: largest at ${
          mode.labels[peak]}, ${percent(value[peak], 2)} of the ${groupWord()}.`;
    },
    height: small ? 110 : 190,
    wide: !small,
    draw: (svg, width, height) => drawLine(svg, width, height, mode, of(), small),
    data: () => [
        ["entity", "value", "q05", "q95", "overall"],
        ...mode.labels.map((label, j) => [label, of().value[j], of().q05[j], of().q95[j], mode.overall[j]])],
  });
}

function drawLine(svg, width, height, mode, {value, q05, q95}, small) {
  const n = value.length;
  const x = d3.scaleLinear().domain([0, Math.max(1, n - 1)]);
  const y = d3.scaleLinear().domain([0, Math.max(d3.max(q95), d3.max(mode.overall)) || 1]).nice(3);
  const group = axes(svg, width, height, {
    x,
    y,
    yFormat: (v) => percent(v, y.domain()[1] < 0.05 ? 1 : 0),
    yTicks: small ? 2 : 4,
    margin: {right: 22, left: 46}
  });
  svg.select(".axis.x").call(labelledAxis(x, mode.labels, width - 68));
  band(group, value.map((v, j) => [j, q05[j], q95[j]]), x, y, "var(--accent)");
  curve(group, mode.overall.slice(0, n).map((v, j) => [j, v]), x, y, "var(--overall)");
  curve(group, value.map((v, j) => [j, v]), x, y, "var(--accent)");
  const hit = group.append("rect")
                  .attr("class", "hit")
                  .attr("x", x(0))
                  .attr("width", x(Math.max(1, n - 1)) - x(0))
                  .attr("height", height - 24);
  withTooltip(hit, () => {
    const j = Math.round(x.invert(d3.event.clientX - svg.node().getBoundingClientRect().left));
    const at = Math.max(0, Math.min(n - 1, j));
    return [
      mode.labels[at],
      `${percent(value[at], 2)} of the ${groupWord()} [${percent(q05[at], 2)}, ${percent(q95[at], 2)}]`,
      `${percent(mode.overall[at], 2)} overall`
    ];
  });
}
