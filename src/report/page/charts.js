// ---- charts.js: the few kinds of plots that the views are made of.

const measuring = document.createElement("canvas").getContext("2d");

function textWidth(text, size = 12) {
  measuring.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

// What of a text has room, by bisection.
function fitting(text, width, size = 12) {
  if (textWidth(text, size) <= width) return text;
  let low = 1, high = Array.from(text).length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (textWidth(cut(text, middle), size) <= width)
      low = middle;
    else
      high = middle;
  }
  return cut(text, low);
}

// Round numbers of a logarithmic scale: powers of ten, and 2 and 5 times these where there are few.
function decades(scale) {
  if (!scale.base) return null;
  const [low, high] = scale.domain();
  const powers = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1).map((power) => 10 ** power);
  const some = powers.length > 4 ? powers : powers.flatMap((power) => [power, 2 * power, 5 * power]);
  return some.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}

// Margins, axes with few ticks, a light grid and names. Returns the group to draw into.
function axes(svg, width, height, {x, y, xName, yName, xTicks, yTicks, xFormat, yFormat, margin = {}, grid = true}) {
  const m = {top: 8, right: 12, bottom: xName ? 40 : 24, left: yName ? 58 : 48, ...margin};
  x.range([m.left, width - m.right]);
  y.range([height - m.bottom, m.top]);
  const xAxis = d3.axisBottom(x).tickSizeOuter(0).ticks(xTicks || Math.max(2, Math.round(width / 90)));
  const yAxis = d3.axisLeft(y).tickSizeOuter(0).ticks(yTicks || Math.max(2, Math.round(height / 45)));
  for (const [scale, axis] of [[x, xAxis], [y, yAxis]])
    if (decades(scale)) axis.tickValues(decades(scale));
  if (xFormat) xAxis.tickFormat(xFormat);
  if (yFormat) yAxis.tickFormat(yFormat);
  if (grid) yAxis.tickSizeInner(-(width - m.left - m.right));
  svg.append("g").attr("class", "axis x").attr("transform", `translate(0,${height - m.bottom})`).call(xAxis);
  const left = svg.append("g")
                   .attr("class", `axis y${grid ? " grid" : ""}`)
                   .attr("transform", `translate(${m.left},0)`)
                   .call(yAxis);
  left.selectAll("text").attr("dx", -4);
  if (xName)
    svg.append("text")
        .attr("class", "axis-name")
        .attr("x", (m.left + width - m.right) / 2)
        .attr("y", height - 6)
        .attr("text-anchor", "middle")
        .text(fitting(xName, width - m.left - m.right, 11));
  if (yName)
    svg.append("text")
        .attr("class", "axis-name")
        .attr("transform", `translate(11,${(m.top + height - m.bottom) / 2}) rotate(-90)`)
        .attr("text-anchor", "middle")
        .text(fitting(yName, height - m.top - m.bottom, 11));
  return svg.append("g");
}

// An axis over places 0, 1, ... that names as many of them as have room.
function labelledAxis(x, labels, width) {
  const wide = Math.max(48, d3.max(labels, (label) => textWidth(cut(label, 12), 11)) + 14);
  const every = Math.max(1, Math.ceil(labels.length * wide / width));
  return d3.axisBottom(x)
      .tickValues(d3.range(0, labels.length, every))
      .tickSizeOuter(0)
      .tickFormat((place) => cut(labels[place] || "", 12));
}

// A curve through points [x, y].
function curve(group, points, x, y, color, dash = null, step = false) {
  return group.append("path")
      .attr("class", "curve")
      .attr("stroke", color)
      .attr("stroke-dasharray", dash)
      .attr(
          "d",
          (step ? d3.line().curve(d3.curveStepAfter) : d3.line())
              .defined((p) => p[1] !== null)
              .x((p) => x(p[0]))
              .y((p) => y(p[1]))(points));
}

// Between two curves: points [x, low, high].
function band(group, points, x, y, color) {
  return group.append("path")
      .attr("class", "band")
      .attr("fill", color)
      .attr("d", d3.area().x((p) => x(p[0])).y0((p) => y(p[1])).y1((p) => y(p[2]))(points));
}

const barHeight = 22;

function barsHeight(items, legend = true) {
  return Math.max(1, items) * barHeight + (legend ? 26 : 6);
}

// Lying bars: label, bar with its interval, and a mark for what the entity has overall.
// items: [{key, label, value, low, high, overall, text, press, lines, name}]
function bars(
    svg, width, items,
    {most, color = "var(--accent)", valueWidth = 62, format = (v) => percent(v, 2), axis = true} = {}) {
  const wanted = 12 + (d3.max(items, (d) => textWidth(visible(d.label))) || 0);
  const labelWidth = Math.max(70, Math.min(320, 0.42 * width, wanted));
  const largest = most || d3.max(items, (d) => Math.max(d.value, d.high || 0, d.overall || 0)) || 1;
  const x = d3.scaleLinear().domain([0, largest]).range([labelWidth + 6, width - valueWidth]);
  if (axis) {
    const places =
        svg.append("g").attr("class", "axis x").attr("transform", `translate(0,${items.length * barHeight + 3})`);
    places.call(d3.axisBottom(x)
                    .ticks(Math.max(1, Math.round((width - labelWidth - valueWidth) / 75)))
                    .tickSizeOuter(0)
                    .tickFormat((v) => format.axis ? format.axis(v) : percent(v, largest < 0.05 ? 1 : 0)));
  }
  const row = svg.selectAll("g.bar")
                  .data(items)
                  .join("g")
                  .attr("class", "bar")
                  .attr("data-key", (d) => d.key)
                  .attr("transform", (d, i) => `translate(0,${i * barHeight})`);
  row.append("rect").attr("class", "hit").attr("width", width).attr("height", barHeight);
  row.append("text")
      .attr("class", "label")
      .attr("x", labelWidth)
      .attr("y", barHeight / 2 + 4)
      .attr("text-anchor", "end")
      .text((d) => fitting(visible(d.label), labelWidth - 4));
  row.append("rect")
      .attr("class", "value")
      .attr("fill", (d) => d.color || color)
      .attr("x", x(0))
      .attr("y", 4)
      .attr("height", barHeight - 8)
      .attr("width", (d) => Math.max(0.5, x(d.value) - x(0)));
  row.filter((d) => d.overall !== undefined)
      .append("rect")
      .attr("class", "overall")
      .attr("x", x(0))
      .attr("y", barHeight - 7)
      .attr("height", 4)
      .attr("width", (d) => Math.max(0.5, x(d.overall) - x(0)));
  const whisker = row.filter((d) => d.high !== undefined && d.high !== null).append("g").attr("class", "whisker");
  whisker.append("line").attr("x1", (d) => x(d.low)).attr("x2", (d) => x(d.high)).attr("y1", 9.5).attr("y2", 9.5);
  whisker.append("line").attr("x1", (d) => x(d.low)).attr("x2", (d) => x(d.low)).attr("y1", 6.5).attr("y2", 12.5);
  whisker.append("line").attr("x1", (d) => x(d.high)).attr("x2", (d) => x(d.high)).attr("y1", 6.5).attr("y2", 12.5);
  row.append("text")
      .attr("class", "number")
      .attr("x", (d) => Math.min(width - 2, width - valueWidth + 6))
      .attr("y", barHeight / 2 + 4)
      .text((d) => d.text === undefined ? format(d.value) : d.text);
  withTooltip(row.filter((d) => d.lines), (d) => d.lines());
  pressable(row.filter((d) => d.press), (d) => d.name || `${d.label}: ${format(d.value)}`, (d) => d.press(), "link");
  return row;
}

// Standing columns of a distribution: [[value, probability], ...].
function columns(svg, width, height, pairs, {xName, color = "var(--accent)"}) {
  const low = d3.min(pairs, (p) => p[0]), high = d3.max(pairs, (p) => p[0]);
  const x = d3.scaleLinear().domain([low - 0.7, high + 0.7]);
  const y = d3.scaleLinear().domain([0, d3.max(pairs, (p) => p[1])]).nice();
  const group = axes(svg, width, height, {
    x,
    y,
    xName,
    yName: "probability",
    yFormat: (v) => percent(v, 0),
    xFormat: (v) => Number.isInteger(v) ? count(v) : "",
    xTicks: Math.min(pairs.length, Math.round(width / 50))
  });
  const wide = Math.min(40, Math.max(1, (x(1) - x(0)) * 0.8));
  const item = group.selectAll("rect")
                   .data(pairs)
                   .join("rect")
                   .attr("class", "column")
                   .attr("fill", color)
                   .attr("x", (p) => x(p[0]) - wide / 2)
                   .attr("width", wide)
                   .attr("y", (p) => y(p[1]))
                   .attr("height", (p) => y(0) - y(p[1]));
  withTooltip(item, (p) => [`${count(p[0])} components`, `probability ${percent(p[1])}`]);
  return group;
}

// Little lines that name the colours below a plot, as HTML so that they wrap.
function legend(items) {
  return h("ul", {class: "legend"}, items.map(({name, color, dash, shape}) => {
    const svg = d3.create("svg").attr("width", 22).attr("height", 12).attr("aria-hidden", "true");
    if (shape === "bar")
      svg.append("rect").attr("y", 1).attr("width", 22).attr("height", 10).attr("fill", color);
    else if (shape === "thin")
      svg.append("rect").attr("y", 4).attr("width", 22).attr("height", 4).attr("fill", color);
    else if (shape === "dot")
      svg.append("circle").attr("cx", 11).attr("cy", 6).attr("r", 3).attr("fill", color);
    else if (shape === "band")
      svg.append("rect").attr("class", "band").attr("y", 1).attr("width", 22).attr("height", 10).attr("fill", color);
    else if (shape === "whisker") {
      const g = svg.append("g").attr("class", "whisker");
      g.append("line").attr("x1", 2).attr("x2", 20).attr("y1", 6).attr("y2", 6);
      g.append("line").attr("x1", 2).attr("x2", 2).attr("y1", 3).attr("y2", 9);
      g.append("line").attr("x1", 20).attr("x2", 20).attr("y1", 3).attr("y2", 9);
    } else
      svg.append("line")
          .attr("x1", 0)
          .attr("x2", 22)
          .attr("y1", 6)
          .attr("y2", 6)
          .attr("stroke", color)
          .attr("stroke-width", 2)
          .attr("stroke-dasharray", dash);
    return h("li", {}, svg.node(), name);
  }));
}

// A table. head: names; rows: texts or elements. Numbers go to the right where a column is marked so.
function table(head, rows, {numeric = [], caption, id} = {}) {
  return h(
      "div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption || "table"},
      h("table", {id},
        h("thead", {},
          h("tr", {},
            head.map((name, i) => h("th", {scope: "col", class: numeric.includes(i) ? "number" : null}, name)))),
        h("tbody", {},
          rows.map(
              (row) =>
                  h("tr", {}, row.map((cell, i) => h("td", {class: numeric.includes(i) ? "number" : null}, cell)))))));
}
