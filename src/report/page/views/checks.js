// ---- views/checks.js: posterior predictive checks. Does the model make data like those it was given?

const placeWords = {
  within: ["good", "within"],
  outside: ["fair", "just outside"],
  far: ["bad", "far outside"]
};

// "12 to 15", of the replicates.
function rangeText(c) {
  return c.low === c.high ? short(c.low) : `${short(c.low)} to ${short(c.high)}`;
}

function replicatesText() {
  return plural(report.checks.replicates, "replicate");
}

function shareText(share) {
  return share < 1 ? ` Counted in a random ${percent(share, 0)} of the contexts.` : "";
}

// Which entities of a mode occur together, in a sentence: by the number that is far outside, if one is.
function pairsSentence(mode, {shared, closest, closest_pairs}) {
  const far = [closest, shared].find((c) => c.place === "far");
  const shown = far || closest;
  const data = shown === shared ?
      `In the data, all pairs of ${mode.name} together share ${short(shared.observed)} contexts` :
      closest_pairs === 1 ?
      `In the data, the pair of ${mode.name} that shares most has ${short(closest.observed)} contexts` :
      `In the data, the top tenth of the pairs of ${mode.name} share ${short(closest.observed)} contexts on average`;
  const numbers = `${data}; in ${replicatesText()} ${rangeText(shown)}`;
  if (!far) return `${numbers}. The model captures which of them occur together.`;
  if (far.observed < far.low) return `${numbers}. They occur together less often than the model predicts.`;
  return `${numbers}. They occur together more often than the model predicts. ${
      report.verdicts[2].answer === "yes" ?
          "The bound on the rank is large enough, so more components are unlikely to help." :
          "More components may help."}`;
}

// What changes from one entity of an ordered mode to the next.
function changesSentence(mode, d) {
  const c = d.changes;
  const numbers = `The data have ${plural(c.observed, "change")} from one ${mode.name} to the next; ${
      replicatesText()} have ${rangeText(c)}`;
  if (c.place !== "far") return `${numbers}, as the model predicts.`;
  return c.observed < c.low ? `${numbers}. The model draws every cell independently, so it does not know that ones ` +
      `last from one ${
                                  mode.name} to the next.` :
                              `${numbers}. The data change more than the model predicts.`;
}

// Every number beside its range.
function checksTable() {
  const {pairs, changes} = report.checks;
  const row = (mode, what, c) =>
      [mode.name, what, short(c.observed), rangeText(c),
       h("span", {class: `badge ${placeWords[c.place][0]}`}, placeWords[c.place][1])];
  const rows = pairs.flatMap((p, k) => !p ? [] : [
    row(report.modes[k], `contexts that ${p.pairs === 1 ? "the pair shares" : "all pairs share"}`, p.shared),
    row(report.modes[k],
        p.closest_pairs === 1 ? "of the pair that shares most" :
                                `mean over the ${count(p.closest_pairs)} pairs that share most`,
        p.closest)
  ]);
  for (const d of changes)
    rows.push(
        row(report.modes[d.mode], "ones that stay", d.stay), row(report.modes[d.mode], "ones that appear", d.appear),
        row(report.modes[d.mode], "ones that disappear", d.disappear));
  return rows.length === 0 ? [] :
                             table(
                                 ["mode", "what is counted", "data", "replicates", ""], rows,
                                 {numeric: [2, 3], caption: "Numbers of the data and of the replicates", id: "checks"});
}

function insideText(inside) {
  return `${percent(inside, 0)} of the points of the data are within the range of the replicates. If the model is ` +
      `right, ${
      percent(report.checks.covers, 0)} are expected.`;
}

// How many have at least so much: both axes are logarithmic. thing: what is counted, one and many.
function atLeastFigure({title, note, d, xName, yName, thing, of}) {
  return figure({
    title,
    note,
    label: `${title}. How many ${thing[1]} have at least so many ${of}: the data, and ${
        report.checks.replicates} data sets drawn from the model. ${
        percent(d.inside, 0)} of the points are within the band.`,
    height: 230,
    draw: (svg, width, height) => {
      const x = d3.scaleLog().domain([1, Math.max(2, d3.max(d.at_least))]);
      const top = Math.max(2, d3.max(d.observed), d3.max(d.high));
      const y = d3.scaleLog().domain([0.7, 1.2 * top]).clamp(true);
      const some = (v) => count(v);
      const group =
          axes(svg, width, height, {x, y, xName, yName, xFormat: some, yFormat: some, margin: {left: 58, right: 22}});
      const up = (v) => Math.max(v, 0.7);
      band(group, d.at_least.map((v, i) => [v, up(d.low[i]), up(d.high[i])]), x, y, "var(--accent)");
      curve(group, d.at_least.map((v, i) => [v, up(d.middle[i])]), x, y, "var(--accent)", "4 3");
      const item = group.selectAll("circle")
                       .data(d.at_least.map((v, i) => [v, d.observed[i], i]).filter((p) => p[1] > 0))
                       .join("circle")
                       .attr("class", "dot")
                       .attr("r", 3)
                       .attr("fill", "var(--text)")
                       .attr("cx", (p) => x(p[0]))
                       .attr("cy", (p) => y(p[1]));
      withTooltip(
          item,
          (p) =>
              [`${plural(p[1], ...thing)} with ${count(p[0])} ${of} or more`,
               `replicates: ${short(d.middle[p[2]])} [${short(d.low[p[2]])}, ${short(d.high[p[2]])}]`]);
    },
    data: () => [
        ["at_least", "observed", "low", "middle", "high"],
        ...d.at_least.map((v, i) => [v, d.observed[i], d.low[i], d.middle[i], d.high[i]])],
  });
}

function degreeFigure(mode, d) {
  const word = report.checks.counts ? "counts" : "ones";
  return atLeastFigure({
    title: `Degrees: ${mode.name}`,
    note: insideText(d.inside),
    d,
    xName: `${word} of an entity, at least`,
    yName: "entities",
    thing: ["entity", "entities"],
    of: word
  });
}

function pairsFigure(mode, pairs) {
  const some = pairs.entities < mode.size ? ` Pairs of the ${count(pairs.entities)} entities with the most ones.` : "";
  return atLeastFigure({
    title: `Pairs: ${mode.name}`,
    note: `${insideText(pairs.curve.inside)}${some}${shareText(pairs.share)}`,
    d: pairs.curve,
    xName: "contexts that a pair shares, at least",
    yName: "pairs",
    thing: ["pair", "pairs"],
    of: "shared contexts"
  });
}

function changesFigure(mode, {steps, share}) {
  const labels = mode.labels.slice(1);
  const last = labels.length - 1;
  return figure({
    title: `Changes: ${mode.name}`,
    note: `Ones that appear or disappear from one to the next. ${insideText(steps.inside)}${shareText(share)}`,
    label: `Changes from one ${mode.name} to the next: the data, and ${
        report.checks.replicates} data sets drawn from the model. ${
        percent(steps.inside, 0)} of the points are within the band.`,
    height: 230,
    draw: (svg, width, height) => {
      const x = d3.scaleLinear().domain([0, Math.max(1, last)]);
      const y = d3.scaleLinear().domain([0, Math.max(1, d3.max(steps.observed), d3.max(steps.high))]).nice(4);
      const group = axes(svg, width, height, {x, y, yName: "changes", yTicks: 4, margin: {left: 58, right: 22}});
      svg.select(".axis.x").call(labelledAxis(x, labels, width - 80));
      band(group, steps.low.map((v, t) => [t, v, steps.high[t]]), x, y, "var(--accent)");
      curve(group, steps.middle.map((v, t) => [t, v]), x, y, "var(--accent)", "4 3");
      curve(group, steps.observed.map((v, t) => [t, v]), x, y, "var(--text)");
      const item = group.selectAll("circle")
                       .data(steps.observed)
                       .join("circle")
                       .attr("class", "dot")
                       .attr("r", last < 100 ? 3 : 1.5)
                       .attr("fill", "var(--text)")
                       .attr("cx", (v, t) => x(t))
                       .attr("cy", (v) => y(v));
      item.datum((v, t) => t);
      withTooltip(
          item,
          (t) =>
              [`${visible(mode.labels[t])} to ${visible(labels[t])}`, plural(steps.observed[t], "change"),
               `replicates: ${short(steps.middle[t])} [${short(steps.low[t])}, ${short(steps.high[t])}]`]);
    },
    data: () => [
        ["from", "to", "observed", "low", "middle", "high"],
        ...labels.map(
            (label, t) => [mode.labels[t], label, steps.observed[t], steps.low[t], steps.middle[t], steps.high[t]])],
  });
}

function checksPart() {
  const {replicates, covers, degrees, pairs, changes} = report.checks;
  const sentences = [
    ...pairs.map((p, k) => p && pairsSentence(report.modes[k], p)),
    ...changes.map((d) => changesSentence(report.modes[d.mode], d))
  ].filter((sentence) => sentence);
  return [
    h("h3", {}, "Does the model produce data like these?"),
    h("p", {class: "note"},
      `Posterior predictive check: ${
          replicates} data sets, called replicates, are drawn from the model, each from a different posterior draw. ` +
          "They are compared with the data of the fit. A context of a mode is one entity of each other mode. Two " +
          "entities share a context if both have a one there."),
    h("ul", {class: "findings"}, sentences.map((sentence) => h("li", {}, sentence))), checksTable(),
    h("p", {class: "note"},
      `If the model is right, at most about ${percent(1 - covers, 0)} of the numbers are outside the range. Hardly ` +
          "any are far outside, that is, further away than the range is wide."),
    legend([
      {name: "data", color: "var(--text)", shape: "dot"},
      {name: "replicates: median", color: "var(--accent)", dash: "4 3"},
      {name: "range of the replicates", color: "var(--accent)", shape: "band"}
    ]),
    h("div", {class: "columns three"}, degrees.map((d, k) => degreeFigure(report.modes[k], d)),
      pairs.map((p, k) => p && pairsFigure(report.modes[k], p)),
      changes.map((d) => changesFigure(report.modes[d.mode], d)))
  ].flat();
}
