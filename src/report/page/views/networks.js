// ---- views/networks.js: what the networks say: who was placed by them alone, and which groups they use.

function networkMode(network) {
  return [network.mode, report.modes[network.mode]];
}

// The component or column with the largest share of an entity, or -1.
function mainGroup(k, place) {
  const {start, component} = report.entities[k];
  return start[place] === start[place + 1] ? -1 : component[start[place]];
}

// A colour and a shape for each of the groups that most nodes belong to: six of them, and grey for the rest.
function graphFigure(network) {
  const [k, mode] = networkMode(network);
  const {nodes, edges, of, all} = network.graph;
  const times = new Map();
  for (const place of nodes) times.set(mainGroup(k, place), (times.get(mainGroup(k, place)) || 0) + 1);
  const main =
      [...times.entries()].filter(([r]) => r >= 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 6).map(([
                                                                                                                r
                                                                                                              ]) => r);
  const color = (r) => (main.includes(r) ? chainColors[main.indexOf(r)] : "var(--overall)");
  const shape = (r) => (main.includes(r) ? d3.symbols[main.indexOf(r) % d3.symbols.length] : d3.symbolCircle);
  const places = nodes.map((place, i) => ({place, i, r: mainGroup(k, place), degree: 0}));
  for (const [a, b] of edges) {
    places[a].degree += 1;
    places[b].degree += 1;
  }
  let laid = null;
  // One layout in a square of its own, the same every time, stretched to the width.
  const layout = () => {
    if (laid) return laid;
    const force =
        d3.forceSimulation(places)
            .stop()
            .force("charge", d3.forceManyBody().strength(-38).distanceMax(320))
            .force("link", d3.forceLink(edges.map(([a, b]) => ({source: a, target: b}))).distance(26).strength(0.35))
            .force("x", d3.forceX().strength(0.06))
            .force("y", d3.forceY().strength(0.09))
            .force("apart", d3.forceCollide(7));
    for (let i = 0; i < 300; ++i) force.tick();
    laid = true;
    return laid;
  };
  const plot = figure({
    title: `The network of ${mode.name}`,
    note: (all ? "" : `The ${nodes.length} of ${count(of)} entities with the most neighbours. `) +
        `Colour and shape: the ${groupWord()} to which an entity mostly belongs; grey: another one. Ring: it has no ` +
        "training ones.",
    label: `Graph of ${plural(nodes.length, "entity", "entities")} and ${plural(edges.length, "link")}.`,
    height: (width) => Math.min(620, Math.max(340, width * 0.6)),
    interactive: true,
    draw: (svg, width, height) => {
      layout();
      const [x0, x1] = d3.extent(places, (d) => d.x), [y0, y1] = d3.extent(places, (d) => d.y);
      const x = d3.scaleLinear().domain([x0, x1]).range([24, width - 24]),
            y = d3.scaleLinear().domain([y0, y1]).range([20, height - 20]);
      svg.append("g")
          .selectAll("line")
          .data(edges)
          .join("line")
          .attr("class", "edge")
          .attr("x1", ([a]) => x(places[a].x))
          .attr("y1", ([a]) => y(places[a].y))
          .attr("x2", ([, b]) => x(places[b].x))
          .attr("y2", ([, b]) => y(places[b].y));
      const item = svg.selectAll("g.node")
                       .data(places)
                       .join("g")
                       .attr("class", (d) => `node${isCold(k, d.place) ? " cold" : ""}`)
                       .attr("data-key", (d) => d.place)
                       .attr("transform", (d) => `translate(${x(d.x)},${y(d.y)})`);
      item.filter((d) => isCold(k, d.place)).append("circle").attr("class", "ring").attr("r", 9);
      item.append("path").attr("d", (d) => d3.symbol().type(shape(d.r)).size(64)()).attr("fill", (d) => color(d.r));
      // Names where there is room for them: most neighbours first.
      const taken = [];
      const named = [...places].sort((a, b) => b.degree - a.degree || a.i - b.i).filter((d) => {
        const text = fitting(visible(mode.labels[d.place]), 110, 11), wide = textWidth(text, 11);
        const left = x(d.x) + 8 + wide > width ? x(d.x) - 8 - wide : x(d.x) + 8;
        const box = [left, y(d.y) - 7, left + wide, y(d.y) + 7];
        if (taken.some((o) => box[0] < o[2] && o[0] < box[2] && box[1] < o[3] && o[1] < box[3])) return false;
        if (places.some(
                (o) => o !== d && x(o.x) > box[0] - 5 && x(o.x) < box[2] + 5 && y(o.y) > box[1] - 3 &&
                    y(o.y) < box[3] + 3))
          return false;
        taken.push(box);
        Object.assign(d, {text, left});
        return true;
      });
      svg.append("g")
          .selectAll("text")
          .data(named)
          .join("text")
          .attr("class", "node-label")
          .attr("x", (d) => d.left)
          .attr("y", (d) => y(d.y) + 4)
          .text((d) => d.text);
      withTooltip(
          item,
          (d) => [visible(mode.labels[d.place]), plural(d.degree, "link shown", "links shown"),
                  plural(mode.ones[d.place], "training one"),
                  d.r < 0 ? "" : `mostly ${groupNumber(d.r)}: ${groupName(d.r)}`]
                     .filter((line) => line));
      pressable(
          item, (d) => `${mode.labels[d.place]}, ${plural(d.degree, "link")}`,
          (d) => goTo("entities", mode.name, mode.labels[d.place]), "link");
    },
    data: () => [["from", "to"], ...edges.map(([a, b]) => [mode.labels[nodes[a]], mode.labels[nodes[b]]])],
  });
  const key = h("ul", {class: "legend"}, main.map((r) => {
    const svg = d3.create("svg").attr("width", 16).attr("height", 14).attr("aria-hidden", "true");
    svg.append("path")
        .attr("transform", "translate(8,7)")
        .attr("d", d3.symbol().type(shape(r)).size(64)())
        .attr("fill", color(r));
    return h("li", {}, svg.node(), h("a", {href: hrefOf(groupAddress(r))}, `${groupNumber(r)}: ${groupName(r)}`));
  }));
  return h("div", {}, plot, key);
}

// The network's own weights beside those of the tensor, both as parts of their sums.
function networkGroupsFigure(network) {
  const word = groupWord();
  const groups =
      groupsOfMode(network.mode).map((index, i) => ({...groupList()[index], index, ...network.components[i]}));
  const weights = groupsOfMode(network.mode).map((index) => groupList()[index]);
  const total = d3.sum(network.components, (b) => b.beta), tensor = d3.sum(weights, (c) => c.weight);
  const shown = groups.sort((a, b) => b.beta - a.beta).slice(0, 16).filter((c) => c.beta >= 0.5);
  if (shown.length === 0)
    return h("p", {class: "note"}, `No ${word} describes the links of the network, so it adds nothing to the model.`);
  return figure({
    title: `The network's own ${word}s`,
    note: `Bars: the part of the network's links that a ${word} describes, with a 90 % interval. Thin: the part of ` +
        `the tensor. If the bar is much longer, the ${word} describes the network rather than the tensor.`,
    label: `Bars: the network's weights by ${word}. ${
        shown.slice(0, 5)
            .map(
                (c) => `${c.number}: ${percent(c.beta / total)} of the network, ${
                    percent(c.weight / tensor)} of the tensor`)
            .join("; ")}`,
    height: barsHeight(shown.length),
    interactive: true,
    draw: (svg, width) => bars(
        svg, width,
        shown.map(
            (c) => ({
              key: c.number,
              label: `${groupNumber(c.index)}  ${groupName(c.index)}`,
              value: c.beta / total,
              low: c.q05 / total,
              high: c.q95 / total,
              overall: c.weight / tensor,
              press: () => goTo(...groupAddress(c.index)),
              name: `${upper(word)} ${c.number}, ${groupName(c.index)}: ${percent(c.beta / total)} of the network`,
              lines: () => [`${groupNumber(c.index)}: ${groupName(c.index)}`,
                            `${percent(c.beta / total)} of the network: beta ${short(c.beta)} [${short(c.q05)}, ${
                                short(c.q95)}]`,
                            `${percent(c.weight / tensor)} of the tensor: weight ${fixed(c.weight, 1)}`,
                            c.network_only ? "used only by a network" : ""]
                               .filter((line) => line)
            })),
        {format: (v) => percent(v), color: "var(--second)"}),
    data: () => [
        [word, "name", "beta", "q05", "q95", "weight"],
        ...groupsOfMode(network.mode)
            .map(
                (index, i) =>
                    [groupList()[index].number, groupName(index), network.components[i].beta, network.components[i].q05,
                     network.components[i].q95, groupList()[index].weight])],
  });
}

function coldTable(network) {
  const [k, mode] = networkMode(network);
  const {count: all, list} = network.cold;
  if (all === 0) return h("p", {class: "note"}, `No cold start: every ${mode.name} has training ones.`);
  const rows = list.slice(0, 100).map(
      ({entity, neighbours, missing: hidden}) =>
          [h("a", {href: `#entities/${encodeURIComponent(mode.name)}/${encodeURIComponent(mode.labels[entity])}`},
             visible(mode.labels[entity])),
           count(neighbours),
           neighbours === 0 ? h("span", {class: "grade bad"}, "by no data at all") :
                              h("span", {class: "grade fair"}, "by its neighbours"),
           hidden ? "all its cells are missing" : "no ones",
           h("span", {},
             profileOf(k, entity).slice(0, 3).map(
                 ([r, share]) => h("span", {class: "why"}, groupLink(r), ` ${percent(share, 0)}`)))]);
  const save = () => download(fileName(`cold start ${mode.name}`, "tsv"), "text/tab-separated-values", tsvText([
                                ["entity", "neighbours", "missing"],
                                ...list.map((c) => [mode.labels[c.entity], c.neighbours, c.missing ? 1 : 0])
                              ]));
  return h(
      "div", {},
      h("div", {class: "table-head"},
        h("h3", {}, `Cold start: ${plural(all, mode.name, mode.name)} without training ones`),
        h("button", {type: "button", class: "small data-download", onclick: save}, "data")),
      h("p", {class: "note"},
        `What the model knows about them comes from the network.${
            list.length < all || rows.length < list.length ? ` The ${rows.length} with the most neighbours are ` +
                `shown.` : ""}`),
      table(
          [mode.name, "neighbours", "placed", "data", `its ${groupWord()}s`], rows,
          {numeric: [1], caption: "Entities without training ones", id: "cold"}));
}

function networksView(section) {
  for (const network of report.networks) {
    const [, mode] = networkMode(network);
    section.append(h(
        "div", {class: "network"}, h("h3", {}, `${mode.name}: ${plural(network.edges, "link")}`),
        h("p", {class: "facts"},
          `${count(network.connected)} of ${count(mode.size)} entities have a link${
              network.missing_pairs ? `; ${plural(network.missing_pairs, "pair")} unknown` : ""} · ${network.source}`),
        h("div", {class: "columns wide-left"}, network.graph.nodes.length ? graphFigure(network) : "",
          networkGroupsFigure(network)),
        coldTable(network)));
  }
}
