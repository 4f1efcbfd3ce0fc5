// ---- views/matrix.js: the core as a matrix: which columns of two modes meet, and how much.

const matrixMost = 40;   // rows, and columns if there is room
const matrixLeast = 13;  // pixels of a cell

// The cells of the matrix: entries with the same columns in both modes of the pair, and the chosen ones in others.
// state: {pair: [k, l], slices and picked: Map of mode to column, entity: null or [mode, place]}.
function matrixCells(state) {
  const [k, l] = state.pair;
  const cells = new Map();
  for (const entry of coreEntries()) {
    if ([...state.slices].some(([mode, column]) => entry.columns[mode] !== column)) continue;
    const key = `${entry.columns[k]},${entry.columns[l]}`;
    const cell = cells.get(key) || {key, row: entry.columns[k], column: entry.columns[l], weight: 0, entries: []};
    cell.weight += entry.weight;
    cell.entries.push(entry);
    cells.set(key, cell);
  }
  return [...cells.values()];
}

// What has the most weight, at most so many, in the order of all weights.
function matrixSide(cells, side, most) {
  const weights = d3.nest().key((cell) => cell[side]).rollup((of) => d3.sum(of, (cell) => cell.weight)).entries(cells);
  const values = new Map(cells.map((cell) => [String(cell[side]), cell[side]]));
  const chosen = weights.sort((a, b) => b.value - a.value).slice(0, most).map((d) => values.get(d.key));
  const place = (value) => (typeof value === "number" ? value : Infinity);
  return {all: weights.length, shown: chosen.sort((a, b) => place(a) - place(b))};
}

// Not there in every twentieth draw or more: the interval begins near nothing.
function isUncertain(cell) {
  return cell.entries.every((entry) => entry.q05 < 0.5);
}

function cellLines(state, cell) {
  if (cell.entries.length === 1) return entryLines(cell.entries[0]);
  const [k, l] = state.pair;
  return [
    `${report.modes[k].name}: ${columnName(k, cell.row)}`, `${report.modes[l].name}: ${columnName(l, cell.column)}`,
    `weight ${fixed(cell.weight, 1)} in ${count(cell.entries.length)} entries of the core`,
    ...cell.entries.slice(0, 4).map((entry) => `${entryLabel(entry.columns, [k, l])}: ${weightText(entry)}`),
    cell.entries.length > 4 ? "…" : ""
  ].filter((line) => line);
}

// The address of a cell: both columns, and those of other modes that are chosen.
function cellAddress(state, cell) {
  const picked = new Map([...state.slices, [state.pair[0], cell.row], [state.pair[1], cell.column]]);
  return [
    "columns",
    ...[...picked].sort((a, b) => a[0] - b[0]).flatMap(([k,
                                                         column]) => [report.modes[k].name, columnAddress(k, column)])
  ];
}

// What is where, in a width: sizes of labels and cells, and what has room.
function matrixPlan(state, width) {
  const [k, l] = state.pair;
  const cells = matrixCells(state);
  const left = Math.round(Math.min(230, 0.34 * width));
  const columns = matrixSide(cells, "column", Math.min(matrixMost, Math.floor((width - left - 4) / matrixLeast)));
  // Rows that have something in one of these columns.
  const rows = matrixSide(cells.filter((cell) => columns.shown.includes(cell.column)), "row", matrixMost);
  rows.all = new Set(cells.map((cell) => cell.row)).size;
  const wide = Math.floor((width - left - 4) / Math.max(1, columns.shown.length));
  const size = Math.max(matrixLeast, Math.min(30, wide, Math.floor(600 / Math.max(1, rows.shown.length))));
  const names = columns.shown.map((column) => columnName(l, column));
  const top = 12 + Math.min(width < 500 ? 90 : 130, Math.ceil(d3.max(names, (name) => textWidth(name, 11)) || 0));
  const height = top + size * rows.shown.length + 52;
  const inside = cells.filter((cell) => rows.shown.includes(cell.row) && columns.shown.includes(cell.column));
  return {k, l, cells, inside, rows, columns, left, top, size, height};
}

// Colours by the logarithm of the weight, from a light tint on.
function tint(cells) {
  const [low, high] = d3.extent(cells, (cell) => cell.weight);
  return d3.scaleLog().domain([low, Math.max(high, 1.01 * low)]).range([0.14, 1]).clamp(true);
}

function drawTints(svg, plan, opacity) {
  const group = svg.append("g").attr("transform", `translate(${plan.left},${plan.height - 30})`);
  const values = decades(opacity);
  const shown = values.length > 5 ? values.filter((v, i) => i % 2 === 0) : values;
  group.append("text").attr("class", "axis-name").attr("x", -8).attr("y", 11).attr("text-anchor", "end").text("weight");
  shown.forEach((value, i) => {
    group.append("rect")
        .attr("class", "tint")
        .attr("x", 44 * i)
        .attr("width", 42)
        .attr("height", 12)
        .attr("fill-opacity", opacity(value));
    group.append("text")
        .attr("class", "axis-name")
        .attr("x", 44 * i + 21)
        .attr("y", 26)
        .attr("text-anchor", "middle")
        .text(short(value));
  });
}

// Labels of rows and columns: behind each a mark that lights up for an entity.
function drawLabels(svg, plan, chosen) {
  const {k, l, left, top, size, rows, columns} = plan;
  const items = [
    ...rows.shown.map((column, i) => ({mode: k, column, at: [i, -1]})),
    ...columns.shown.map((column, i) => ({mode: l, column, at: [-1, i]}))
  ];
  [[`${report.modes[l].name} →`, 26], [`${report.modes[k].name} ↓`, 10]].forEach(
      ([name, above]) => svg.append("text")
                             .attr("class", "axis-name")
                             .attr("x", left - 8)
                             .attr("y", top - above)
                             .attr("text-anchor", "end")
                             .text(fitting(name, left - 10, 11)));
  const item = svg.selectAll("g.matrix-label")
                   .data(items)
                   .join("g")
                   .attr("class", (d) => `matrix-label matrix-item${chosen(d.mode, d.column) ? " chosen" : ""}`)
                   .attr("data-key", (d) => `${d.at[0] < 0 ? "column" : "row"} ${d.column}`)
                   .attr(
                       "transform",
                       (d) =>
                           (d.at[0] < 0 ? `translate(${left + size * (d.at[1] + 0.5)},${top - 4}) rotate(-90)` :
                                          `translate(${left - 4},${top + size * (d.at[0] + 0.5)})`));
  const long = (d) => (d.at[0] < 0 ? top - 10 : left - 10);
  item.append("rect")
      .attr("class", "lamp")
      .attr("x", (d) => (d.at[0] < 0 ? 0 : -long(d)))
      .attr("y", -size / 2 + 0.5)
      .attr("width", long)
      .attr("height", size - 1);
  item.append("text")
      .attr("dy", "0.35em")
      .attr("x", (d) => (d.at[0] < 0 ? 3 : -3))
      .attr("text-anchor", (d) => (d.at[0] < 0 ? "start" : "end"))
      .style("font-size", "11px")
      .text((d) => fitting(columnName(d.mode, d.column), long(d) - 6, 11));
  withTooltip(item, (d) => (isOwn(d.mode) ? [columnName(d.mode, d.column)] : groupLines(d.column)));
  pressable(
      item, (d) => `${report.modes[d.mode].name}: ${columnName(d.mode, d.column)}`,
      (d) => goTo("columns", report.modes[d.mode].name, columnAddress(d.mode, d.column)), "button");
}

function drawCells(svg, plan, state, opacity) {
  const {k, l, left, top, size, rows, columns, inside} = plan;
  svg.append("rect")
      .attr("class", "matrix-frame")
      .attr("x", left)
      .attr("y", top)
      .attr("width", size * columns.shown.length)
      .attr("height", size * rows.shown.length);
  const data =
      inside.map((cell) => ({...cell, at: [rows.shown.indexOf(cell.row), columns.shown.indexOf(cell.column)]}));
  const isPicked = (d) => state.picked.get(k) === d.row && state.picked.get(l) === d.column;
  const item = svg.selectAll("g.matrix-cell")
                   .data(data)
                   .join("g")
                   .attr("class", (d) => `matrix-cell matrix-item${isPicked(d) ? " chosen" : ""}`)
                   .attr("data-key", (d) => d.key)
                   .attr("transform", (d) => `translate(${left + size * d.at[1]},${top + size * d.at[0]})`);
  item.append("rect").attr("class", "hit").attr("width", size).attr("height", size);
  const inset = (d) => (isUncertain(d) ? 0.28 * size : 1);
  item.append("rect")
      .attr("class", "tint")
      .attr("x", inset)
      .attr("y", inset)
      .attr("width", (d) => size - 2 * inset(d))
      .attr("height", (d) => size - 2 * inset(d))
      .attr("fill-opacity", (d) => opacity(d.weight));
  withTooltip(item, (d) => cellLines(state, d));
  pressable(item, (d) => cellLines(state, d).join(", "), (d) => goTo(...cellAddress(state, d)));
}

// One stop for Tab; arrows go to the next cell or label in their direction.
function matrixKeys(svg) {
  const items = svg.selectAll(".matrix-item");
  const start = svg.select(".matrix-cell.chosen").node() || svg.select(".matrix-item").node();
  items.attr("tabindex", -1);
  if (start) start.setAttribute("tabindex", 0);
  svg.on("keydown.move", () => {
    const step = {ArrowRight: [1, 1], ArrowDown: [0, 1], ArrowLeft: [1, -1], ArrowUp: [0, -1]}[d3.event.key];
    const from = document.activeElement.closest(".matrix-item");
    if (!step || !from) return;
    d3.event.preventDefault();
    const [along, by] = step, {at} = d3.select(from).datum();
    const next = items.nodes()
                     .map((node) => ({node, at: d3.select(node).datum().at}))
                     .filter((d) => d.at[1 - along] === at[1 - along] && (d.at[along] - at[along]) * by > 0)
                     .sort((a, b) => (a.at[along] - b.at[along]) * by)[0];
    if (!next) return;
    items.attr("tabindex", -1);
    next.node.setAttribute("tabindex", 0);
    next.node.focus();
  });
}

// chosen(k, column): whether its label is marked. Its light(k, place) shows how much of an entity each column has, and
// light() that of what was lit to stay.
function matrixFigure(state, chosen) {
  let last = null;  // the plan of the last width
  const plan = (width) => (last = {width, ...matrixPlan(state, width)});
  const names = () => state.pair.map((k) => report.modes[k].name);
  const slices = () => [...state.slices].map(([k, column]) => columnNumber(k, column)).join(", ");
  const matrix = figure({
    title: () => `${names().join(" × ")}${state.slices.size ? `: ${slices()}` : ""}`,
    subject: "core",
    wide: true,
    label: () => `Matrix of the core: which columns of ${names()[0]} and ${names()[1]} meet${
        state.slices.size ? ` in ${slices()}` : ""}. Arrow keys go from cell to cell. ${
        matrixCells(state)
            .sort((a, b) => b.weight - a.weight)
            .slice(0, 5)
            .map(
                (cell) => `${columnName(state.pair[0], cell.row)} with ${columnName(state.pair[1], cell.column)}: ${
                    fixed(cell.weight, 1)}`)
            .join("; ")}`,
    note: () => {
      const {rows, columns, cells} = last;
      const cutOff = [["rows", rows], ["columns", columns]].filter(([, side]) => side.shown.length < side.all);
      return `${
                 plural(
                     cells.length, "cell")} with weight. Colour: weight, on a logarithmic scale. Small squares: ` +
          `some draws do not have them.${
                 cutOff.length ? ` Only the ${
                                     cutOff.map(([name, side]) => `${side.shown.length} of ${side.all} ${name}`)
                                         .join(" and ")} with the most weight are shown.` :
                                 ""}`;
    },
    height: (width) => plan(width).height,
    interactive: true,
    draw: (svg, width) => {
      const now = plan(width);
      if (now.cells.length === 0) {
        svg.append("text").attr("x", 4).attr("y", 30).text("No entry of the core is here.");
        return;
      }
      const opacity = tint(now.cells);
      drawLabels(svg, now, chosen);
      drawCells(svg, now, state, opacity);
      drawTints(svg, now, opacity);
      matrixKeys(svg);
      matrix.light();
    },
    data: () => [
        [...report.modes.map((mode) => mode.name), "weight", "q05", "q95", "stability"],
        ...matrixCells(state)
            .flatMap((cell) => cell.entries)
            .sort((a, b) => b.weight - a.weight)
            .map(
                (e) =>
                    [...e.columns.map((column, k) => columnAddress(k, column)), e.weight, e.q05, e.q95, e.stability])],
  });
  matrix.light = (k, place) => {
    const [mode, at] = place === undefined ? state.entity || [] : [k, place];
    const shares = at === undefined ? null : new Map(profileOf(mode, at));
    d3.select(matrix).selectAll(".matrix-label").each(function(d) {
      const share = shares && matrixOf(d.mode) === matrixOf(mode) ? shares.get(d.column) || 0 : 0;
      d3.select(this).select(".lamp").style("fill-opacity", share ? 0.15 + 0.75 * Math.sqrt(share) : null);
    });
  };
  return matrix;
}
