// ---- views/components.js: the map of components, linked to bars of their entities.

// The entity of each mode that tells most of a component: relevance 0.6 is what Sievert and Shirley (2014) found to be read best.
const tellingRelevance = 0.6;

function barsOf(index, k, relevance, most) {
  const {entity, value, q05, q95} = report.components.bars[index][k];
  const overall = report.modes[k].overall;
  const score = (i) => relevance * Math.log(value[i]) + (1 - relevance) * Math.log(value[i] / overall[entity[i]]);
  const order =
      d3.range(entity.length).filter((i) => value[i] > 0).sort((a, b) => score(b) - score(a) || entity[a] - entity[b]);
  return order.slice(0, most).map((i) => ({
                                    entity: entity[i],
                                    label: report.modes[k].labels[entity[i]],
                                    value: value[i],
                                    low: q05[i],
                                    high: q95[i],
                                    overall: overall[entity[i]]
                                  }));
}

// "France · NATO": cached, since every view names components.
const componentNames = new Map();
function componentName(index) {
  if (!componentNames.has(index)) {
    const parts =
        report.modes.map((mode, k) => (mode.ordered || mode.size < 2 ? [] : barsOf(index, k, tellingRelevance, 1)))
            .flat();
    const all = parts.length ? parts : barsOf(index, 0, tellingRelevance, 1);
    componentNames.set(index, all.map((d) => cut(visible(d.label), 24)).join(" · "));
  }
  return componentNames.get(index);
}

function componentLines(index) {
  const c = report.components.list[index];
  return [
    `${c.number}: ${componentName(index)}`, `weight ${fixed(c.weight, 1)} [${fixed(c.q05, 1)}, ${fixed(c.q95, 1)}]`,
    `${percent(c.share)} of the ones`, c.stability === null ? "" : `stability ${fixed(c.stability, 2)}`,
    c.network_only ? "used by a network only" : ""
  ].filter((line) => line);
}

function indexOfNumber(number) {
  return report.components.list.findIndex((c) => String(c.number) === String(number));
}

// Circles by weight, near each other where components are alike. They are pushed apart as far as they overlap: a few hundred steps from the same
// start, so the map is always the same.
function mapPlaces(positions, width, height, radius) {
  const margin = 14 + d3.max(radius);
  const extent = (i) => d3.extent(positions, (p) => p[i]);
  const [x0, x1] = extent(0), [y0, y1] = extent(1);
  const scale = Math.min((width - 2 * margin) / (x1 - x0 || 1), (height - 2 * margin) / (y1 - y0 || 1));
  const nodes = positions.map((p, i) => {
    const x = width / 2 + (p[0] - (x0 + x1) / 2) * scale, y = height / 2 - (p[1] - (y0 + y1) / 2) * scale;
    return {x, y, wantedX: x, wantedY: y, r: radius[i]};
  });
  const force = d3.forceSimulation(nodes)
                    .stop()
                    .force("x", d3.forceX((d) => d.wantedX).strength(0.15))
                    .force("y", d3.forceY((d) => d.wantedY).strength(0.15))
                    .force("apart", d3.forceCollide((d) => d.r + 1.5).iterations(4));
  for (let i = 0; i < 240; ++i) {
    force.tick();
    for (const d of nodes) {
      d.x = Math.max(d.r + 2, Math.min(width - d.r - 2, d.x));
      d.y = Math.max(d.r + 2, Math.min(height - d.r - 2, d.y));
    }
  }
  return nodes;
}

function componentsView(section) {
  const c = report.components;
  const state = {index: 0, relevance: 1, by: "all"};
  const most = report.modes.length > 3 ? 10 : 14;

  const select = (index) => goTo("components", c.list[index].number);
  const map = figure({
    title: "Map of the components",
    label: () => `Map of ${plural(c.list.length, "component")}, a circle each. Chosen: ${
        componentLines(state.index).join(", ")}. Arrow keys go to the next one.`,
    note: "Area: weight. Near each other: made of the same entities. Overlapping circles are moved apart.",
    height: (width) => Math.min(520, Math.max(300, width * 0.85)),
    interactive: true,
    draw: drawMap,
    data: () => [
        ["component", "name", "weight", "q05", "q95", "share", "stability", "x", "y"],
        ...c.list.map(
            (d, i) =>
                [d.number, componentName(i), d.weight, d.q05, d.q95, d.share, d.stability, ...placesOf(state.by)[i]])],
  });

  function placesOf(by) {
    return by === "all" ? c.similarity.all : c.similarity.modes[by];
  }

  function drawMap(svg, width, height) {
    const largest = d3.max(c.list, (d) => d.weight) || 1;
    // Together a fifth of the area, and none so small that it cannot be hit.
    const unit = Math.min(
        0.16 * Math.min(width, height),
        Math.sqrt(0.2 * width * height / Math.PI / d3.sum(c.list, (d) => Math.max(0, d.weight) / largest)));
    const radius = c.list.map((d) => Math.max(6, unit * Math.sqrt(Math.max(0, d.weight) / largest)));
    const places = mapPlaces(placesOf(state.by), width, height, radius);
    const order = d3.range(c.list.length);
    const item = svg.selectAll("g.component")
                     .data(order)
                     .join("g")
                     .attr("class", (i) => `component${i === state.index ? " chosen" : ""}`)
                     .attr("data-key", (i) => c.list[i].number)
                     .attr("transform", (i) => `translate(${places[i].x},${places[i].y})`);
    item.append("circle")
        .attr("r", (i) => places[i].r)
        .attr("class", (i) => (c.list[i].stability !== null && c.list[i].stability < stable ? "unstable" : null));
    item.append("text")
        .attr("dy", "0.35em")
        .attr("text-anchor", "middle")
        .style("font-size", (i) => `${Math.max(8, Math.min(14, places[i].r))}px`)
        .text((i) => (places[i].r < 4 * String(c.list[i].number).length ? "" : c.list[i].number));
    withTooltip(item, componentLines);
    pressable(item, (i) => `Component ${componentLines(i).join(", ")}`, select);
    item.attr("aria-pressed", (i) => String(i === state.index));
    svg.on("keydown", () => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[d3.event.key];
      if (!step) return;
      d3.event.preventDefault();
      const next = (state.index + step + c.list.length) % c.list.length;
      const focused = svg.node().contains(document.activeElement);
      select(next);
      if (focused) setTimeout(() => map.querySelector(`[data-key="${c.list[next].number}"]`).focus(), 50);
    });
  }

  const heading = h("h3", {class: "component-name", "aria-live": "polite"});
  const facts = h("p", {class: "facts"});
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.1,
    value: 1,
    id: "relevance",
    oninput: () => {
      state.relevance = Number(slider.value);
      output.textContent = state.relevance.toFixed(1);
      plots.forEach((plot) => plot.redraw());
    }
  });
  const output = h("output", { for: "relevance"
  }, "1.0");
  const by =
      h("select", {
        id: "similar-by",
        onchange: () => {
          state.by = by.value === "all" ? "all" : Number(by.value);
          map.redraw();
        }
      },
        h("option", {value: "all"}, "all modes"), report.modes.map((mode, k) => h("option", {value: k}, mode.name)));
  const step = (by) => select((state.index + by + c.list.length) % c.list.length);

  const plots = report.modes.map(
      (mode, k) => (c.lines[0] && c.lines[0][k] ? lineFigure(mode, k, () => state.index) : figure({
        title: mode.name,
        label: () => `Bars: ${mode.name} in component ${c.list[state.index].number}. ${
            barsOf(state.index, k, state.relevance, 5)
                .map((d) => `${d.label} ${percent(d.value, 2)}, overall ${percent(d.overall, 2)}`)
                .join("; ")}`,
        height: () => barsHeight(Math.min(most, c.bars[state.index][k].entity.length)),
        interactive: true,
        draw: (svg, width) => bars(
            svg, width,
            barsOf(state.index, k, state.relevance, most)
                .map((d) => ({
                       ...d,
                       key: d.entity,
                       press: () => goTo("entities", mode.name, d.label),
                       name: `${d.label}: ${percent(d.value, 2)} of the component, ${
                           percent(d.overall, 2)} overall. Go to the entity.`,
                       lines: () =>
                           [visible(d.label),
                            `${percent(d.value, 2)} of the component [${percent(d.low, 2)}, ${percent(d.high, 2)}]`,
                            `${percent(d.overall, 2)} overall: ${short(d.value / d.overall)} times as much here`,
                            plural(mode.ones[d.entity], "one")]
                     }))),
        data: () => [
            ["entity", "value", "q05", "q95", "overall"],
            ...barsOf(state.index, k, state.relevance, c.bars[state.index][k].entity.length)
                .map((d) => [d.label, d.value, d.low, d.high, d.overall])],
      })));

  section.append(h(
      "div", {class: "columns map-and-bars"},
      h("div", {},
        h("div", {class: "controls"},
          h("label",
            { for: "similar-by"
            },
            "Alike in "),
          by),
        map,
        c.empty ?
            h("p", {class: "note"}, `${plural(c.empty, "further component")} ${c.empty === 1 ? "is" : "are"} empty.`) :
            ""),
      h("div", {},
        h("div", {class: "controls chooser"},
          h("button", {type: "button", "aria-label": "Previous component", onclick: () => step(-1)}, "‹"), heading,
          h("button", {type: "button", "aria-label": "Next component", onclick: () => step(1)}, "›")),
        facts,
        h("div", {class: "controls"},
          h("label",
            { for: "relevance"
            },
            "Relevance"),
          h("span", {class: "hint"}, "what is special here"), slider, h("span", {class: "hint"}, "what is large here"),
          output),
        legend([
          {name: "in this component", color: "var(--accent)", shape: "bar"},
          {name: "overall", color: "var(--overall)", shape: "thin"}, {name: "90 % interval", shape: "whisker"}
        ]),
        h("div", {class: "bars-grid"}, plots))));

  return {
    show([number]) {
      const index = number === undefined ? state.index : indexOfNumber(number);
      state.index = index < 0 ? 0 : index;
      const d = c.list[state.index];
      heading.textContent = `${d.number}: ${componentName(state.index)}`;
      facts.textContent = componentLines(state.index).slice(1).join(" · ");
      map.redraw();
      plots.forEach((plot) => plot.redraw());
    },
  };
}

// An ordered mode: the component's line with its band, and the overall line.
function lineFigure(mode, k, index, small = false) {
  const c = report.components;
  const of = () => c.lines[index()][k];
  return figure({
    title: mode.name,
    small,
    level: small ? "h4" : "h3",
    label: () => {
      const {value} = of();
      const peak = value.indexOf(d3.max(value));
      return `Line over ${mode.name}, from ${mode.labels[0]} to ${mode.labels[mode.labels.length - 1]}: largest at ${
          mode.labels[peak]}, ${percent(value[peak], 2)} of the component.`;
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
  const room = (width - 60) / Math.max(48, d3.max(mode.labels, (l) => textWidth(cut(l, 12), 11)) + 14);
  const every = Math.max(1, Math.ceil(n / Math.max(1, room)));
  const group = axes(svg, width, height, {
    x,
    y,
    yFormat: (v) => percent(v, y.domain()[1] < 0.05 ? 1 : 0),
    yTicks: small ? 2 : 4,
    margin: {right: 22, left: 46}
  });
  svg.select(".axis.x").call(d3.axisBottom(x)
                                 .tickValues(d3.range(0, n, every))
                                 .tickSizeOuter(0)
                                 .tickFormat((j) => cut(mode.labels[j] || "", 12)));
  band(group, value.map((v, j) => [j, q05[j], q95[j]]), x, y, "var(--accent)");
  curve(group, mode.overall.slice(0, n).map((v, j) => [j, v]), x, y, "var(--overall)");
  curve(group, value.map((v, j) => [j, v]), x, y, "var(--accent)");
  const step = n > 1 ? x(1) - x(0) : width;
  const hit = group.selectAll("rect.hit")
                  .data(value)
                  .join("rect")
                  .attr("class", "hit")
                  .attr("x", (v, j) => x(j) - step / 2)
                  .attr("width", step)
                  .attr("y", 0)
                  .attr("height", height - 24);
  withTooltip(hit, (v) => {
    const j = Math.round(x.invert(d3.event.clientX - svg.node().getBoundingClientRect().left));
    const at = Math.max(0, Math.min(n - 1, j));
    return [
      mode.labels[at], `${percent(value[at], 2)} of the component [${percent(q05[at], 2)}, ${percent(q95[at], 2)}]`,
      `${percent(mode.overall[at], 2)} overall`
    ];
  });
}
