// ---- views/fit.js: how good the predictions of unseen cells are, and whether the model makes data like those it was
// given.

function rocFigure(level = "h3", small = false) {
  const f = report.fit;
  return figure({
    title: "ROC curve",
    note: small ? null : "If more cells are called ones, more ones are found (upwards), and there are more false " +
            "alarms (to the right). Dashed: guessing.",
    level,
    label: `ROC curve of the test cells: area ${fixed(f.metrics.auc_roc, 4)}.`,
    height: (width) => (small ? 246 : Math.min(360, Math.max(220, width * 0.8))),
    draw: (svg, width, height) => drawRates(
        svg, width, height, f.roc, "false positive rate", "true positive rate", [[0, 0], [1, 1]],
        `AUC ${fixed(f.metrics.auc_roc, 4)}`),
    data: () => [["false_positive_rate", "true_positive_rate"], ...f.roc],
  });
}

function precisionRecallFigure() {
  const f = report.fit;
  const chance = f.ones / (f.ones + f.zeros);
  return figure({
    title: "Precision and recall",
    note: "All cells above some probability are called ones. Precision: the share of them that are ones. Recall: the " +
        "share of the ones that are among them. Dashed: guessing.",
    label: `Precision-recall curve of the test cells: area ${fixed(f.metrics.auc_pr, 4)}; guessing gives ${
        fixed(chance, 4)}.`,
    height: (width) => Math.min(360, Math.max(220, width * 0.8)),
    draw: (svg, width, height) => drawRates(
        svg, width, height, f.pr, "recall", "precision", [[0, chance], [1, chance]],
        `AUC ${fixed(f.metrics.auc_pr, 4)}`),
    data: () => [["recall", "precision"], ...f.pr],
  });
}

function drawRates(svg, width, height, points, xName, yName, chance, text) {
  const x = d3.scaleLinear().domain([0, 1]), y = d3.scaleLinear().domain([0, 1.02]);
  const group = axes(svg, width, height, {x, y, xName, yName, xTicks: 5, yTicks: 5});
  curve(group, chance, x, y, "var(--overall)", "4 4");
  curve(group, points, x, y, "var(--accent)");
  group.append("text")
      .attr("class", "inside")
      .attr("x", x(0.97))
      .attr("y", y(0.08))
      .attr("text-anchor", "end")
      .text(text);
  const nearest = d3.bisector((p) => p[0]).left;
  const hit = group.append("rect")
                  .attr("class", "hit")
                  .attr("x", x(0))
                  .attr("width", x(1) - x(0))
                  .attr("y", y(1))
                  .attr("height", y(0) - y(1));
  withTooltip(hit, () => {
    const at = x.invert(d3.event.clientX - svg.node().getBoundingClientRect().left);
    const p = points[Math.max(0, Math.min(points.length - 1, nearest(points, at)))];
    return [`${yName} ${fixed(p[1], 3)}`, `${xName} ${fixed(p[0], 3)}`];
  });
}

// Odds on a logarithmic scale: probabilities near nothing and near one have as much room as those between.
function oddsScale(low, high) {
  const odds = (v) => Math.log(v / (1 - v));
  const linear = d3.scaleLinear().domain([odds(low), odds(high)]).clamp(true);
  const scale = (v) => linear(odds(Math.max(low, Math.min(high, v))));
  const small = d3.range(Math.ceil(Math.log10(low) - 1e-9), 0).map((power) => 10 ** power);
  scale.domain = () => [low, high];
  scale.range = (range) => (range ? (linear.range(range), scale) : linear.range());
  scale.copy = () => scale;
  scale.ticks = () => [...small, 0.5, ...small.map((v) => 1 - v).reverse()].filter((v) => v >= low && v <= high);
  // 0.01 %, and 10⁻⁵ % of what has too many zeros to be read.
  const power = (v) => String(-Math.round(Math.log10(100 * v))).replace(/./g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  scale.tickFormat = () => (v) =>
      (v < 1e-5 ? `10⁻${power(v)} %` : `${Number((100 * v).toPrecision(v > 0.5 ? 8 : 1))} %`);
  return scale;
}

// Bins with ones alone or none stand at the edge.
function reliabilityFigure(bins, title, note) {
  const all = bins.flatMap((b) => [b.probability, b.share]).filter((v) => v > 0 && v < 1);
  const low = Math.max(1e-8, Math.min(0.05, (d3.min(all) || 0.01) / 2));
  const largest = d3.max(all) || 0.99;
  const high = largest < 0.5 ? Math.min(0.6, 2 * largest) : Math.min(1 - 1e-4, 1 - (1 - largest) / 2);
  return figure({
    title,
    note,
    label: `Reliability diagram, ${bins.length} bins. ${
        bins.filter((b, i) => i % 4 === 0)
            .map((b) => `predicted ${percent(b.probability, 2)}, observed ${percent(b.share, 2)}`)
            .join("; ")}`,
    height: (width) => Math.min(360, Math.max(240, width * 0.8)),
    draw: (svg, width, height) => {
      const x = oddsScale(low, high), y = oddsScale(low, high);
      const group = axes(svg, width, height, {
        x,
        y,
        xName: "predicted probability",
        yName: "observed share of ones",
        margin: {left: 72, right: 22},
      });
      // Few enough to be read.
      const words = svg.selectAll(".axis.x .tick").nodes();
      const every = Math.ceil(words.length * 52 / (width - 84));
      words.forEach((tick, i) => (i % every ? tick.remove() : null));
      // What would be right: the diagonal, and a little off it where the fit took held-out ones for zeros.
      curve(group, bins.map((b) => [b.probability, b.expected]), x, y, "var(--overall)", "4 4");
      const item = group.selectAll("g.bin")
                       .data(bins)
                       .join("g")
                       .attr("class", "bin")
                       .attr("transform", (b) => `translate(${x(b.probability)},0)`);
      item.append("line").attr("class", "range").attr("y1", (b) => y(b.low)).attr("y2", (b) => y(b.high));
      item.append("circle")
          .attr("class", "dot")
          .attr("r", 4.5)
          .attr("cy", (b) => y(b.share))
          .attr("fill", "var(--accent)");
      withTooltip(
          item,
          (b) =>
              [`predicted ${percent(b.probability, 2)}`,
               `observed ${percent(b.share, 2)} [${percent(b.low, 2)}, ${percent(b.high, 2)}]`,
               `${percent(b.expected, 2)} would be right`, plural(b.cells, "cell")]);
    },
    data: () => [
        ["probability", "expected", "share", "low", "high", "cells"],
        ...bins.map((b) => [b.probability, b.expected, b.share, b.low, b.high, b.cells])],
  });
}

// All scores, beside those of popularity.
function scoreTable(f) {
  return table(
      ["score", "model", "popularity"],
      f.titles.map(([key, title, digits]) => [title, fixed(f.metrics[key], digits), fixed(f.popularity[key], digits)]),
      {numeric: [1, 2], caption: "Scores of the model, and of popularity alone", id: "scores"});
}

// The cells where people act.
function headTable(f) {
  if (!f.head.length) return "";
  return table(
      ["most probable unseen cells", "held-out ones expected", "found"],
      f.head.map(([cells, expected, found]) => [`first ${count(cells)}`, fixed(expected, 1), count(found)]),
      {numeric: [1, 2], caption: "Held-out ones among the most probable unseen cells", id: "head"});
}

function fitView(section) {
  const f = report.fit;
  if (f) {
    section.append(
        verdictCard(1, calibrated(), null), metricTiles(),
        h("p", {class: "note"},
          f.source === "held out" ? "Scores of the cells that the fit held out, as " : `Scores of the cells of ` +
              `${f.source}, as `,
          h("code", {}, `ztp evaluate ${quoted(report.run.directory)}${f.source === "held out" ? "" : " TEST"}`),
          " prints them."),
        h("div", {class: "columns three"}, rocFigure(), precisionRecallFigure(),
          reliabilityFigure(
              f.weighted, "Reliability",
              "Each point has cells with similar probabilities, with a 90 % interval of their share of ones. If " +
                  "probabilities are right, it is on the dashed line. A drawn zero counts for all zeros that it " +
                  "stands for.")),
        scoreTable(f), headTable(f));
  } else {
    section.append(
        h("p", {class: "lead"},
          "No cells were held out, so the predictions cannot be judged. Fit with --holdout 0.1, or make the " +
              "report with --test FILE."));
  }
  if (report.checks) section.append(...checksPart());
}
