// ---- views/compare.js: two runs beside each other.

function sideNames() {
  return report.runs.map((run) => run.title);
}

const sideColors = ["var(--accent)", "var(--second)"];

function sideLegend() {
  return legend(sideNames().map((name, i) => ({name, color: sideColors[i], shape: "bar"})));
}

function compareView(section) {
  const [a, b] = report.runs;
  const both = (name, of) => [name, of(a), of(b)];
  const comparable = a.test_same;
  const rows = [
    both(
        `${matchWord()}s in use`,
        (run) => `${run.components.used} of ${run.components.used + run.components.empty}${
            a.components.word === run.components.word ? "" : ` ${run.components.word}s`}`),
    both("training ones", (run) => count(run.run.ones)), both("verdict", (run) => run.verdict || missing),
    both("draws", (run) => count(run.run.draws)), both("time", (run) => seconds(run.run.seconds)),
    both("data fingerprint", (run) => run.run.fingerprint),
    ...report.titles.map(
        ([key, title, digits]) =>
            both(comparable ? title : `${title} *`, (run) => (run.metrics ? fixed(run.metrics[key], digits) : missing)))
  ];
  section.append(
      report.agreement === null ?
          h("p", {class: "lead"}, `${a.title} and ${b.title}: two kinds of models, of which only a part can be ` +
              `compared.`) :
          h("p", {class: "lead"}, h("strong", {}, `${percent(report.agreement, 0)} of the two models is the same.`),
            ` ${a.title} and ${b.title}, ${matchWord()} by ${matchWord()}.`),
      h("ul", {class: "findings"}, report.sentences.map((sentence) => h("li", {}, sentence))),
      h("div", {class: "columns"},
        h("div", {}, h("h3", {}, "Side by side"),
          table(["", a.title, b.title], rows, {numeric: [1, 2], caption: "The two runs side by side", id: "sides"}),
          comparable || !(a.metrics && b.metrics) ?
              "" :
              h("p", {class: "note"}, "* From different test cells, so these numbers cannot be compared.")),
        report.matches.length ? weightsFigure() : ""),
      h("h3", {}, "Options that differ"),
      report.options.length ?
          table(
              ["option", a.title, b.title],
              report.options.map(
                  ([name, ...values]) => [name.replace(/_/g, "-"), ...values.map((text) => text || missing)]),
              {caption: "Options that differ"}) :
          h("p", {class: "note"}, "None: the two fits have the same options."),
      report.notes.length ? h("div", {class: "notes"}, h("ul", {}, report.notes.map((note) => h("li", {}, note)))) :
                            "");
}

// What is compared: components, or columns.
function matchWord() {
  return report.runs[0].components.word;
}

// The address of a match, which has a card of its own: numbers of columns are those of a mode.
function matchId(m) {
  return `${matchWord() === "column" ? `${m.modes[0]}-` : ""}${m.a ? m.a.number : `b${m.b.number}`}`;
}

// Weight shares of matched components against each other: on the line they are the same.
function weightsFigure() {
  const matched = report.matches.filter((m) => m.a && m.b);
  const [nameA, nameB] = sideNames();
  return figure({
    title: `Matched ${matchWord()}s: weight shares`,
    note: `Filled: the same ${matchWord()} (overlap ${report.same} or more). Hollow: similar (${
        report.alike} or more). On the dashed line, both runs give it the same weight.`,
    label: `Points: ${plural(matched.length, "pair")} of matched ${
        matchWord()}s, their shares of the weight in both runs.`,
    height: (width) => Math.min(420, Math.max(260, width * 0.75)),
    interactive: true,
    draw: (svg, width, height) => {
      const most = d3.max(matched, (m) => Math.max(m.a.weight_share, m.b.weight_share)) || 1;
      const least = Math.max(1e-6, d3.min(matched, (m) => Math.min(m.a.weight_share, m.b.weight_share)) / 1.5 || 1e-3);
      const scale = () => (most / least > 30 ? d3.scaleLog().domain([least, most * 1.2]) : d3.scaleLinear().domain([
                            0, most * 1.1
                          ])).clamp(true);
      const x = scale(), y = scale();
      const format = (v) => `${Number((100 * v).toPrecision(2))} %`;
      const group = axes(
          svg, width, height, {x, y, xName: nameA, yName: nameB, xFormat: format, yFormat: format, margin: {left: 64}});
      curve(group, [[x.domain()[0], x.domain()[0]], [x.domain()[1], x.domain()[1]]], x, y, "var(--overall)", "4 4");
      const item = group.selectAll("circle")
                       .data(matched)
                       .join("circle")
                       .attr("class", (m) => `dot${m.overlap < report.same ? " hollow" : ""}`)
                       .attr("data-key", matchId)
                       .attr("r", 6)
                       .attr("cx", (m) => x(m.a.weight_share))
                       .attr("cy", (m) => y(m.b.weight_share))
                       .attr("fill", "var(--accent)");
      withTooltip(
          item,
          (m) =>
              [matchName(m), `${nameA}: ${percent(m.a.weight_share)} of the weight`,
               `${nameB}: ${percent(m.b.weight_share)}`, `overlap ${fixed(m.overlap, 2)}`]);
      pressable(
          item, (m) => `${matchName(m)}: overlap ${fixed(m.overlap, 2)}`, (m) => goTo("matches", matchId(m)), "link");
    },
    data: () => [
        [`${matchWord()} of ${nameA}`, `${matchWord()} of ${nameB}`, "share a", "share b", "overlap", "agreement"],
        ...report.matches.map(
            (m) =>
                [m.a && m.a.number, m.b && m.b.number, m.a && m.a.weight_share, m.b && m.b.weight_share, m.overlap,
                 m.agreement])],
  });
}

function matchName(m) {
  return (m.a || m.b).name.map((label) => cut(visible(label), 24)).join(" · ");
}

// Bars of both runs for the entities that are top in either: [label, value in a, value in b], null where a run has
// none.
function pairBars(m, k, mode) {
  const items = m.entities[k].slice(0, 8);
  const sides = [0, 1].filter((i) => [m.a, m.b][i]);
  const largest = (d) => d3.max([d[1], d[2]]) || 0;
  return figure({
    title: mode,
    subject: `of ${matchName(m)}`,
    level: "h4",
    label: `Bars of both runs. ${
        items.slice(0, 4).map((d) => `${d[0]}: ${percent(d[1], 2)} and ${percent(d[2], 2)}`).join("; ")}`,
    height: items.length * 24 + 6,
    draw: (svg, width) => {
      const wanted = 12 + (d3.max(items, (d) => textWidth(visible(d[0]))) || 0);
      const labelWidth = Math.max(60, Math.min(0.42 * width, 220, wanted));
      const x = d3.scaleLinear().domain([0, d3.max(items, largest) || 1]).range([labelWidth + 6, width - 50]);
      const row = svg.selectAll("g")
                      .data(items)
                      .join("g")
                      .attr("class", "bar")
                      .attr("transform", (d, i) => `translate(0,${i * 24})`);
      row.append("rect").attr("class", "hit").attr("width", width).attr("height", 24);
      row.append("text")
          .attr("class", "label")
          .attr("x", labelWidth)
          .attr("y", 16)
          .attr("text-anchor", "end")
          .text((d) => fitting(visible(d[0]), labelWidth - 4));
      for (const i of sides)
        row.append("rect")
            .attr("class", "value")
            .attr("fill", sideColors[i])
            .attr("x", x(0))
            .attr("y", 4 + 8 * i)
            .attr("height", 7)
            .attr("width", (d) => Math.max(0, x(d[1 + i] || 0) - x(0)));
      row.append("text")
          .attr("class", "number")
          .attr("x", width - 44)
          .attr("y", 16)
          .text((d) => percent(largest(d), 1));
      withTooltip(row, (d) => [visible(d[0]), ...sides.map((i) => `${sideNames()[i]}: ${percent(d[1 + i], 2)}`)]);
    },
    data: () => [["entity", ...sideNames()], ...m.entities[k]],
  });
}

// An ordered mode: a line for each run.
function pairLines(m, k, mode) {
  const {labels} = m.lines[k];
  const sides = [0, 1].filter((i) => [m.a, m.b][i]);
  const values = (i) => m.lines[k][["a", "b"][i]];
  return figure({
    title: mode,
    subject: `of ${matchName(m)}`,
    level: "h4",
    label: `Lines of both runs over ${mode}. ${
        sides.map((i) => `${sideNames()[i]}: largest at ${labels[d3.scan(values(i), (p, q) => q - p)]}`).join("; ")}`,
    height: 198,
    draw: (svg, width, height) => {
      const x = d3.scaleLinear().domain([0, Math.max(1, labels.length - 1)]);
      const y = d3.scaleLinear().domain([0, d3.max(sides.flatMap(values)) || 1]).nice(3);
      const group =
          axes(svg, width, height, {x, y, yFormat: (v) => percent(v, 0), yTicks: 4, margin: {right: 22, left: 46}});
      svg.select(".axis.x").call(labelledAxis(x, labels, width - 68));
      for (const i of sides) curve(group, values(i).map((v, j) => [j, v]), x, y, sideColors[i], i ? "6 3" : null);
    },
    data: () => [
        ["entity", ...sideNames()],
        ...labels.map((label, j) => [label, m.lines[k].a && m.lines[k].a[j], m.lines[k].b && m.lines[k].b[j]])],
  });
}

function matchCard(m) {
  const modes = m.modes.map((k) => report.runs[0].modes[k].name);
  const side = (s, i) =>
      (s ? `${sideNames()[i]}: ${matchWord()} ${s.number}, weight ${fixed(s.weight, 1)} [${fixed(s.q05, 1)}, ${
               fixed(s.q95, 1)}], ${percent(s.weight_share)} of all` :
           `${sideNames()[i]}: has no counterpart; the nearest has an overlap of ${fixed(m.overlap, 2)}`);
  const same = !m.a || !m.b ? ["bad", "only in one run"] :
                              [m.overlap >= report.same ? "good" : "fair", `overlap ${fixed(m.overlap, 2)}`];
  const moved = m.a && m.b && m.differs ?
      m.differs
          .map(
              (entities, k) => entities.filter(([, a, b]) => Math.abs(a - b) >= 0.02)
                                   .slice(0, 3)
                                   .map(([label, a, b]) => `${visible(label)} ${percent(a)} → ${percent(b)}`))
          .flat() :
      [];
  return h(
      "article", {class: "card wide", id: `match-${matchId(m)}`},
      h("header", {}, h("h3", {}, matchName(m)), h("span", {class: `badge ${same[0]}`}, same[1])),
      h("p", {class: "facts"}, side(m.a, 0), h("br"), side(m.b, 1)),
      moved.length ? h("p", {class: "note"}, `Differs most: ${moved.join("; ")}`) : "",
      h("div", {class: modes.length > 1 ? "columns three" : "columns one"},
        modes.map((mode, k) => (m.lines[k] ? pairLines : pairBars)(m, k, mode))));
}

function matchesView(section) {
  const only = h("input", {type: "checkbox", id: "only-different", onchange: fill});
  const grid = h("div", {class: "stack"});
  function fill() {
    grid.replaceChildren(
        ...report.matches.filter((m) => !only.checked || !m.a || !m.b || m.overlap < report.same).map(matchCard));
    if (grid.children.length === 0)
      grid.append(h("p", {class: "note"}, `All ${matchWord()}s are the same in both runs.`));
  }
  section.append(
      h("div", {class: "controls"}, only, labelFor("only-different", "only those that differ")), sideLegend(), grid);
  fill();
  return {
    show([number]) {
      if (number === undefined) return;
      if (!document.getElementById(`match-${number}`) && only.checked) {
        only.checked = false;
        fill();
      }
      const target = document.getElementById(`match-${number}`);
      if (target) setTimeout(() => target.scrollIntoView({block: "start"}), 30);
    },
  };
}

function compareProvenanceView(section) {
  for (const run of report.runs)
    section.append(
        h("h3", {}, run.title), factList(runFacts(run.run)),
        table(
            ["chain", "sweeps", "time", "log-likelihood", "occupied, last", "occupied, mean", "network only"],
            chainRows(run.run), {numeric: [0, 1, 2, 3, 4, 5, 6], caption: `Chains of ${run.title}`}));
}
