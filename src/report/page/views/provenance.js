// ---- views/provenance.js: where the numbers come from, so that they can be made again.

function factList(facts) {
  return h(
      "dl", {class: "facts-list"},
      facts.filter(([, value]) => value !== null && value !== undefined && value !== "")
          .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function runFacts(r) {
  return [
    ["Command", r.command ? h("code", {class: "command"}, r.command) : null], ["Directory", r.directory],
    ["Status", r.status], ["Began", r.created.replace("T", " ").replace("Z", " UTC")], ["Made by", `ztp ${r.version}`],
    ["Seed", String(r.seed)], ["Data fingerprint", h("code", {}, r.fingerprint)],
    ["Updates", r.updates ? String(r.updates) : null], ["Training ones", count(r.ones)], ["Cells", short(r.volume)],
    [
      "Held out",
      r.test_ones || r.test_zeros ? `${plural(r.test_ones, "one")}, ${plural(r.test_zeros, "zero")}` : "nothing"
    ],
    ["Missing cells", r.missing_cells ? count(r.missing_cells) : null], ["Time of sampling", seconds(r.seconds)],
    ["Peak memory", bytes(r.peak_memory)], ["Draws kept", count(r.draws)]
  ];
}

function chainRows(r) {
  return r.chains.map(
      (chain, i) =>
          [`${i + 1}`, count(chain.sweeps), seconds(chain.seconds),
           chain.log_likelihood === null ? missing : count(chain.log_likelihood), count(chain.occupied),
           chain.occupied_mean === null ? missing : fixed(chain.occupied_mean, 1), count(chain.network_only)]);
}

function provenanceView(section) {
  const r = report.run;
  section.append(
      factList(runFacts(r)), h("h3", {}, "Modes"),
      table(
          ["mode", "entities", "shown here", "order"],
          report.modes.map(
              (mode) =>
                  [mode.name, count(mode.size), count(mode.labels.length),
                   mode.ordered ? "ordered: drawn as a line" : ""]),
          {numeric: [1, 2], caption: "Modes"}),
      h("h3", {}, "Chains"),
      table(
          ["chain", "sweeps", "time", "log-likelihood", "occupied, last", "occupied, mean", "network only"],
          chainRows(r), {numeric: [0, 1, 2, 3, 4, 5, 6], caption: "Chains"}),
      r.learned && r.learned.length ?
          h("div", {}, h("h3", {}, "Learned hyperparameters"),
            table(
                ["name", "posterior mean"], r.learned.map(([name, value]) => [name, short(value)]),
                {numeric: [1], caption: "Learned hyperparameters"})) :
          "",
      h("h3", {}, "Options"), h("p", {class: "note"}, "Options that this kind of fit uses. Those that were set by " +
          "hand are bold."),
      table(
          ["option", "value"],
          r.options.map(
              ([name, value]) => [name.replace(/_/g, "-"), value || missing].map(
                  (text) => (r.changed.includes(name) ? h("strong", {}, text) : text))),
          {caption: "Options"}),
      h("h3", {}, "This page"),
      h("p", {},
        `Made by ztp ${report.made.version} at ${
            report.made.time.replace("T", " ").replace(
                "Z", " UTC")}. Plots are drawn with D3 ${d3.version} by Mike Bostock, which is part of this file. `,
        `The ${
            groupWord()}s are those of the first chain. They are matched with the other chains for their ` +
            "stability. Probabilities " +
            "are means over all draws of all chains."),
      h("details", {}, h("summary", {}, "Licence of D3"),
        h("pre", {}, document.getElementById("licence").textContent)));
}
