// ---- views/map.js: the map of components.

// Circles by weight, near each other where components are alike. They are pushed apart as far as they overlap: a few
// hundred steps from the same start, so the map is always the same.
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

// {index, by}: which component is chosen, and in which mode circles are near each other ("all", or its number).
// choose(index) is called for a press, step(by) for an arrow key. Its light(k, place) shows how much of an entity each
// component has, and light() nothing of the kind.
function mapFigure(state, choose, step) {
  const list = report.components.list;
  const similarity = () =>
      (state.by === "all" ? report.components.similarity.all : report.components.similarity.modes[state.by]);
  const largest = d3.max(list, (c) => c.weight) || 1;
  let laid = {};
  // Laid out once for each size: it takes a second where there are 500 components.
  const layout = (width, height) => {
    if (laid.width === width && laid.by === state.by) return laid.places;
    // Together a fifth of the area, and none so small that it cannot be hit.
    const unit = Math.min(
        0.16 * Math.min(width, height),
        Math.sqrt(0.2 * width * height / Math.PI / d3.sum(list, (c) => Math.max(0, c.weight) / largest)));
    const radius = list.map((c) => Math.max(6, unit * Math.sqrt(Math.max(0, c.weight) / largest)));
    laid = {width, by: state.by, places: mapPlaces(similarity(), width, height, radius)};
    return laid.places;
  };
  const unstable = list.some((c) => c.stability !== null && c.stability < stable);
  const map = figure({
    title: "Map of the components",
    label: () => `Map of ${plural(list.length, "component")}, one circle each. Chosen: ${
        groupLines(state.index).join(", ")}. Arrow keys go to the next one.`,
    note: `Area: weight. Components made of the same entities are near each other; overlapping circles are moved ` +
        `apart.${
        unstable ? " Dashed: the other chains do not have it." : ""} Point at an entity to see in ` +
        "which other components it is.",
    height: (width) => Math.min(520, Math.max(300, width * 0.85)),
    interactive: true,
    draw: (svg, width, height) => {
      const places = layout(width, height);
      const item = svg.selectAll("g.component")
                       .data(d3.range(list.length))
                       .join("g")
                       .attr("class", (i) => `component${i === state.index ? " chosen" : ""}`)
                       .attr("data-key", (i) => list[i].number)
                       .attr("transform", (i) => `translate(${places[i].x},${places[i].y})`);
      item.append("circle")
          .attr("r", (i) => places[i].r)
          .attr("class", (i) => (list[i].stability !== null && list[i].stability < stable ? "unstable" : null));
      item.append("text")
          .attr("dy", "0.35em")
          .attr("text-anchor", "middle")
          .style("font-size", (i) => `${Math.max(8, Math.min(14, places[i].r))}px`)
          .text((i) => (places[i].r < 4 * String(list[i].number).length ? "" : list[i].number));
      withTooltip(item, groupLines);
      pressable(item, (i) => `Component ${groupLines(i).join(", ")}`, choose);
      item.attr("aria-pressed", (i) => String(i === state.index));
      // One stop for Tab; arrows do the rest.
      item.attr("tabindex", (i) => (i === state.index ? 0 : -1));
      svg.on("keydown", () => {
        const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[d3.event.key];
        if (!by) return;
        d3.event.preventDefault();
        const focused = svg.node().contains(document.activeElement);
        step(by);
        if (focused) map.querySelector(".chosen").focus();
      });
    },
    data: () => [
        ["component", "name", "weight", "q05", "q95", "share", "stability", "x", "y"],
        ...list.map(
            (c, i) => [c.number, groupName(i), c.weight, c.q05, c.q95, c.share, c.stability, ...similarity()[i]])],
  });
  map.light = (k, place) => {
    const shares = place === undefined ? null : new Map(profileOf(k, place));
    d3.select(map).selectAll("g.component circle").style("fill-opacity", function() {
      const i = d3.select(this.parentNode).datum();
      return shares ? 0.05 + 0.9 * Math.sqrt(shares.get(i) || 0) : null;
    });
  };
  return map;
}
