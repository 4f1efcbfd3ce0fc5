// ---- views/overview.js: what was fitted, on what, how good it is, in one screen and in plain words.

const stable = 0.7;  // the stability from which a component counts as found by the other chains, too

// The verdicts of `ztp fit`, in its words: grade, answer, sentences.
const verdictGrades = {
  yes: ["good", "Yes"],
  nearly: ["fair", "Nearly"],
  no: ["bad", "No"],
  unknown: ["unknown", "Not known"],
};

function verdictOf(place, more = []) {
  const {answer, words} = report.verdicts[place];
  return [...verdictGrades[answer], [words.charAt(0).toUpperCase() + words.slice(1), ...more]];
}

// In the words of `ztp diagnose`, which are more.
function converged() {
  const [grade, answer, sentences] = verdictOf(0);
  return [grade, answer, report.diagnostics ? report.diagnostics.sentences : sentences];
}

// With what the fit view says in more detail; the first sentence is that of the verdict.
function calibrated() {
  return verdictOf(1, report.fit ? report.fit.verdict.slice(1) : []);
}

// Whether the bound on the rank is large enough, and how many components or columns the other chains find, too.
function boundAndStability() {
  if (!report.components && !report.columns) return verdictOf(2);
  const judged = groupList().filter((group) => !group.network_only && group.stability !== null);
  const found = judged.filter((group) => group.stability >= stable).length;
  const text = judged.length === 0 ?
      `One chain cannot tell whether another start would find the same ${groupWord()}s.` :
      `Of ${plural(judged.length, groupWord())} in use, ${found === judged.length ? "all" : found} ${
          found === 1 ? "is" : "are"} found by the other chains, too (stability ${stable} or more).`;
  return verdictOf(2, [text]);
}

const gradeMarks = {
  good: "✓",
  fair: "!",
  bad: "✗",
  unknown: "?"
};

function verdictCard(place, [grade, answer, sentences], link) {
  return h(
      "article", {class: `verdict ${grade}`},
      h("h3", {}, h("span", {class: "mark", role: "img", "aria-label": grade}, gradeMarks[grade]),
        ` ${report.verdicts[place].question}`),
      h("p", {class: "answer"}, answer),
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

const metricsShown = ["auc_roc", "auc_pr", "log_loss", "skill", "calibration_slope", "misplaced"];

function metricTiles() {
  const f = report.fit;
  if (!f) return "";
  const tiles = f.titles.filter(([key]) => metricsShown.includes(key));
  return h(
      "div", {class: "tiles", role: "group", "aria-label": "Accuracy on held-out cells"},
      tiles.map(
          ([key, title, digits]) => h(
              "a", {class: "tile", href: "#fit", "data-metric": key},
              h("span", {class: "big"}, fixed(f.metrics[key], digits)), h("span", {}, title))),
      h("p", {class: "tile-note"},
        `For ${plural(f.ones, "one")} and ${plural(f.zeros, "zero")} that the fit has not seen. Log-loss, skill and ` +
            "calibration describe the whole tensor. " +
            `Popularity alone has AUC-ROC ${fixed(f.popularity.auc_roc, 4)} and skill ${
                fixed(f.popularity.skill, 4)}.`));
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
    note: `By weight: how many counts the model expects of each, with 90 % intervals.${rest}`,
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
        verdictCard(0, verdictOf(0), report.diagnostics ? "diagnostics" : null),
        verdictCard(1, verdictOf(1), "fit"),
        verdictCard(2, boundAndStability(), report.components ? "cards" : groups && "columns")),
      metricTiles(), h("div", {class: "columns glance"}, groups ? groupStrip() : "", side),
      report.notes.length ? h("div", {class: "notes"}, h("h3", {}, "What this report leaves out"),
                              h("ul", {}, report.notes.map((note) => h("li", {}, note)))) :
                            "");
}
