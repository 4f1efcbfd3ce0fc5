// ---- views/overview.js: what was fitted, on what, how good it is, in one screen and in plain words.

const stable = 0.7;  // the stability from which a component counts as found by the other chains, too

const verdictWords = {
  good: ["good", "Converged"],
  usable: ["fair", "Nearly converged"],
  poor: ["bad", "Not converged"],
  "one chain": ["unknown", "Not known: one chain"],
  "too short": ["unknown", "Not known: too few draws"],
};

function converged() {
  const d = report.diagnostics;
  if (!d)
    return ["unknown", "Does not apply", `A ${report.run.model} fit is a point, it has no chains that could converge.`];
  const [grade, words] = d.verdict === "one chain" && d.predictions === "poor" ?
      ["bad", "Not converged: one chain, and it drifts"] :
      verdictWords[d.verdict];
  const remedy = d.sentences[d.sentences.length - 1];
  const first = d.sentences[0];
  return [
    grade, words, d.verdict === "poor" && remedy !== first ? [first, remedy, ...d.sentences.slice(1, -1)] : d.sentences
  ];
}

function calibrated() {
  const f = report.fit;
  if (!f)
    return [
      "unknown", "Not known", "No cells were held out. Fit with --holdout 0.1, or make the report with --test FILE."
    ];
  const words = {yes: ["good", "Calibrated"], no: ["bad", "Not calibrated"], unknown: [
                   "unknown", "Cannot be told"
                 ]}[f.calibrated];
  return [...words, f.verdict];
}

// How many there are of what the model is made of, and how many are empty.
function groupsInUse() {
  const used = groupList().filter((group) => !group.network_only);
  if (report.components) return {used, empty: report.components.empty, option: "--rank"};
  const all = d3.sum(report.columns.matrices.filter((matrix) => !matrix.own), (matrix) => matrix.columns);
  return {used, empty: all - used.length, option: "--columns"};
}

function groupsReal() {
  if (!report.components && !report.columns)
    return [
      "unknown", "Does not apply",
      `The factors of a ${report.run.model} fit have either sign: they do not read as components.`
    ];
  const {used, empty, option} = groupsInUse();
  const inUse = `${used.length} of ${plural(used.length + empty, groupWord())} ${
      used.length === 1 ? "is" : "are"} in use; the prior has emptied ${empty === 0 ? "none" : empty}.`;
  const full = empty > 0 ? "" :
      report.components  ? " All are in use, so there may be more than the rank allows: try a larger --rank." :
                           ` All are in use, so there may be more: try a larger ${option}.`;
  const judged = used.filter((group) => group.stability !== null);
  if (judged.length === 0)
    return [
      "unknown", `${used.length} in use`,
      `${inUse}${
          full} Whether another start would find the same ones cannot be told from one chain: fit with --chains 4.`
    ];
  const found = judged.filter((group) => group.stability >= stable).length;
  const grade = found === judged.length ? "good" : found >= 0.5 * judged.length ? "fair" : "bad";
  const text = found === judged.length ?
      `Every one of them is found by the other chains, too (stability ${stable} or more).` :
      `${found} of them ${found === 1 ? "is" : "are"} found by the other chains, too (stability ${
          stable} or more); read the other ${judged.length - found} with care.`;
  return [grade, `${found} of ${used.length} are stable`, `${inUse} ${text}${full}`];
}

const gradeMarks = {
  good: "✓",
  fair: "!",
  bad: "✗",
  unknown: "?"
};
// With `brief`, of many sentences two: what is wrong, and what more is wrong or what helps.
function verdictCard(question, [grade, words, text], link, brief = false) {
  const all = [text].flat();
  const sentences = brief ? all.slice(0, 2) : all;
  return h(
      "article", {class: `verdict ${grade}`},
      h("h3", {}, h("span", {class: "mark", role: "img", "aria-label": grade}, gradeMarks[grade]), ` ${question}`),
      h("p", {class: "answer"}, words),
      h("p", {}, sentences.join(" "), " ", link ? h("a", {href: `#${link}`}, "See why") : ""));
}

// " that share 100 columns of subject and object, and 8 of place".
function columnsUsed() {
  if (!report.columns) return "";
  const names = (matrix) => matrix.modes.map((k) => report.modes[k].name).join(" and ");
  const shared = report.columns.matrices.filter((matrix) => !matrix.own);
  const own = report.columns.matrices.filter((matrix) => matrix.own);
  const of = shared.map(
      (matrix, i) =>
          (i ? `${count(matrix.columns)} of ${names(matrix)}` :
               `${plural(matrix.columns, "column")} of ${names(matrix)}`));
  return `${of.length ? ` that share ${of.join(", ")}` : ""}${
      own.length ? `, each ${own.map(names).join(", ")} by itself,` : ""}`;
}

function whatWasFitted() {
  const r = report.run;
  const sizes = report.modes.map((mode) => count(mode.size)).join(" × ");
  const names = report.modes.map((mode) => mode.name).join(" × ");
  const networks = report.networks && report.networks.length ? ` and ${plural(report.networks.length, "network")}` : "";
  const how = r.model !== "ztp" ? `${r.rank} components by the rival model ${r.model}` :
                                  `up to ${count(r.rank)} components${columnsUsed()} by ${
                                      r.method === "online" ? "online filtering" : "Gibbs sampling"}`;
  return h(
      "p", {class: "lead"}, h("strong", {}, `${plural(r.ones, oneWord())} in ${sizes} cells`),
      `, ${names} (${percent(r.density, r.density < 0.001 ? 4 : 2)})${networks}, fitted with ${how}: ${
          plural(r.chains.length, "chain")}, `,
      `${plural(r.draws, "draw")} kept, ${seconds(r.seconds)}.`,
      r.status === "complete" ? null : h("strong", {}, ` The run is ${r.status}.`));
}

// Metrics that are of the test cells' own share of ones: where zeros were drawn, they say nothing of the tensor.
const ofTheShare = ["log_loss", "brier", "calibration_error"];

function metricTiles() {
  const f = report.fit;
  if (!f) return "";
  const drawn = !f.representative;
  const tiles = f.titles.map(([key, title, digits]) => [key, title, fixed(f.metrics[key], digits)]);
  return h(
      "div", {class: "tiles", role: "group", "aria-label": "Accuracy on held-out cells"},
      tiles.map(
          ([key, title, text]) => h(
              "a", {class: drawn && ofTheShare.includes(key) ? "tile drawn" : "tile", href: "#fit", "data-metric": key},
              h("span", {class: "big"}, text), h("span", {}, title))),
      h("p", {class: "tile-note"},
        `Of ${plural(f.ones, "one")} and ${plural(f.zeros, "zero")} that the fit has not seen.${
            drawn ? " The share of ones among them is not the tensor's: the last three compare fits, and no more." :
                    ""}`));
}

function groupStrip() {
  const list = groupList(), word = groupWord();
  const order = d3.range(list.length).sort((a, b) => list[b].weight - list[a].weight || a - b);
  const shown = order.slice(0, 10);
  const rest = list.length > shown.length ? ` ${list.length - shown.length} more under ${upper(word)}s.` : "";
  return figure({
    title: `The largest ${word}s`,
    label: `Bars: weights of the ${shown.length} largest ${word}s. ${
        shown.map((i) => `${groupNumber(i)}, ${groupName(i)}: ${fixed(list[i].weight, 1)}`).join("; ")}`,
    note: `By expected count, with 90 % intervals.${rest}`,
    height: barsHeight(shown.length),
    interactive: true,
    draw: (svg, width) => bars(
        svg, width,
        shown.map((i) => ({
                    key: groupNumber(i),
                    label: `${groupNumber(i)}  ${groupName(i)}`,
                    value: list[i].weight,
                    low: list[i].q05,
                    high: list[i].q95,
                    press: () => goTo(...groupAddress(i)),
                    name: `${upper(word)} ${groupNumber(i)}, ${groupName(i)}: weight ${fixed(list[i].weight, 1)}`,
                    lines: () => groupLines(i),
                  })),
        {format: Object.assign((v) => fixed(v, 1), {axis: (v) => short(v)}), valueWidth: 58}),
    data: () => [
        [word, "name", "weight", "q05", "q95", ...(report.components ? ["share"] : []), "stability"],
        ...order.map(
            (i) =>
                [groupNumber(i), groupName(i), list[i].weight, list[i].q05, list[i].q95,
                 ...(report.components ? [list[i].share] : []), list[i].stability])],
  });
}

function overviewView(section) {
  const side = [];
  if (report.fit) side.push(rocFigure("h3", true));
  const groups = report.components || report.columns;
  if (groups && report.diagnostics && report.diagnostics.occupied.posterior.length) side.push(occupiedFigure(true));
  section.append(
      whatWasFitted(),
      h("div", {class: "verdicts"},
        verdictCard("Has it converged?", converged(), report.diagnostics ? "diagnostics" : null, true),
        verdictCard("Are its probabilities calibrated?", calibrated(), "fit", true),
        verdictCard(
            `How many ${groupWord()}s are real?`, groupsReal(), report.components ? "cards" : groups && "columns")),
      metricTiles(), h("div", {class: "columns glance"}, groups ? groupStrip() : "", side),
      report.notes.length ? h("div", {class: "notes"}, h("h3", {}, "What this report leaves out"),
                              h("ul", {}, report.notes.map((note) => h("li", {}, note)))) :
                            "");
}
