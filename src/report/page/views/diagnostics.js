// ---- views/diagnostics.js: do the chains agree, and how precise are the numbers?

function verdictGrade(r, ess) {
  if (r === null) return "unknown";
  if (r === "inf") return "bad";
  return r <= 1.01 && ess >= 400 ? "good" : r <= 1.05 && ess >= 100 ? "fair" : "bad";
}

function rHat(q) {
  return q.r_hat === "inf" ? Infinity : q.r_hat === null ? -Infinity : q.r_hat;
}

// What a trace is of: the name of a quantity, or of a watched cell its labels.
function traceName(name) {
  const q = report.diagnostics.quantities.find((one) => one.name === name);
  return q ? quantityName(q) : name;
}

function quantityName(q) {
  return q.cell ? `cell ${q.cell.join(", ")}` : q.name;
}

function occupiedFigure(small = false) {
  const {posterior} = report.diagnostics.occupied;
  return figure({
    title: small ? "Occupied rank" : "Occupied components: posterior",
    label: `Columns: posterior of the number of occupied components. ${
        posterior.map(([n, p]) => `${n}: ${percent(p)}`).join("; ")}`,
    height: small ? 246 : 240,
    draw: (svg, width, height) => columns(svg, width, height, posterior, {xName: "components that the ones use"}),
    data: () => [["components", "probability"], ...posterior],
  });
}

function occupiedByChain() {
  const {chains} = report.diagnostics.occupied;
  if (chains.length < 2) return null;
  const numbers = chains.flat().map((p) => p[0]);
  return figure({
    title: "Occupied components: each chain",
    label: `Each chain's distribution of the number of occupied components, from ${d3.min(numbers)} to ${
        d3.max(numbers)}.`,
    note: "If chains have different numbers, the run does not determine the rank.",
    height: 30 + 26 * chains.length + 30,
    draw: (svg, width, height) => {
      const x = d3.scaleLinear().domain([d3.min(numbers) - 1, d3.max(numbers) + 1]);
      const y = d3.scalePoint().domain(d3.range(chains.length).reverse()).padding(0.6);
      const group = axes(svg, width, height, {
        x,
        y,
        xName: "components that the ones use",
        grid: false,
        margin: {left: 62},
        yFormat: (c) => `chain ${report.diagnostics.chains[c]}`,
        xFormat: (v) => (Number.isInteger(v) ? count(v) : "")
      });
      const most = d3.max(chains.flat(), (p) => p[1]);
      const item = group.selectAll("g")
                       .data(chains)
                       .join("g")
                       .selectAll("circle")
                       .data((pairs, c) => pairs.map((p) => [...p, c]))
                       .join("circle")
                       .attr("class", "dot")
                       .attr("cx", (p) => x(p[0]))
                       .attr("cy", (p) => y(p[2]))
                       .attr("r", (p) => 10 * Math.sqrt(p[1] / most))
                       .attr("fill", (p) => chainColor(report.diagnostics.chains[p[2]] - 1));
      withTooltip(
          item,
          (p) =>
              [`chain ${report.diagnostics.chains[p[2]]}: ${p[0]} components`,
               `in ${percent(p[1])} of its sweeps after burn-in`]);
    },
    data: () => [
        ["chain", "components", "probability"],
        ...chains.flatMap((pairs, c) => pairs.map((p) => [report.diagnostics.chains[c], ...p]))],
  });
}

function traceFigure(chosen) {
  return figure({
    title: () => `Trace: ${traceName(chosen().name)}`,
    label: () => `Lines: ${traceName(chosen().name)} over the sweeps of ${
        plural(chosen().chains.length, "chain")}. The sweeps before ${chosen().burn_in} are burn-in.`,
    height: 260,
    draw: (svg, width, height) => {
      const {chains, burn_in: burnIn} = chosen();
      const points = chains.map((chain) => chain.sweep.map((s, i) => [s, chain.value[i]]).filter((p) => p[1] !== null));
      const after = points.flat().filter((p) => p[0] > burnIn);
      const all = points.flat();
      // The scale is that of the draws: the first sweeps may be far off.
      const [low, high] = d3.extent(after.length ? after : all, (p) => p[1]);
      const pad = (high - low) * 0.25 || Math.abs(high) * 0.05 || 1;
      const x = d3.scaleLinear().domain([0, d3.max(all, (p) => p[0]) || 1]);
      const y = d3.scaleLinear().domain([low - pad, high + pad]).nice();
      const group = axes(svg, width, height, {
        x,
        y,
        xName: "sweep",
        margin: {left: 66},
        yFormat: (v) =>
            (Math.abs(v) >= 1e5 ? d3.format(".4~s")(v).replace("-", minus) :
                                  d3.format(",")(Number(v.toPrecision(6))).replace("-", minus))
      });
      const id = `clip-${(figureClips += 1)}`;
      svg.append("clipPath")
          .attr("id", id)
          .append("rect")
          .attr("x", 66)
          .attr("y", 4)
          .attr("width", Math.max(0, width - 78))
          .attr("height", height - 44);
      if (burnIn > 0)
        group.append("rect")
            .attr("class", "burn-in")
            .attr("x", x(0))
            .attr("width", Math.max(0, Math.min(x(burnIn), width - 12) - x(0)))
            .attr("y", 8)
            .attr("height", height - 48);
      if (burnIn > 0) group.append("text").attr("class", "axis-name").attr("x", x(0) + 4).attr("y", 20).text("burn-in");
      const lines = group.append("g").attr("clip-path", `url(#${id})`);
      points.forEach((p, c) => curve(lines, p, x, y, chainColor(c), chainDash(c)).classed("trace", true));
    },
    data: () => [
        ["chain", "sweep", "value"],
        ...chosen().chains.flatMap((chain, c) => chain.sweep.map((s, i) => [c + 1, s, chain.value[i]]))],
  });
}
let figureClips = 0;

function ranksFigure(chosen) {
  const halves = () => chosen().of === "halves";
  const partName = (c) => (halves() ? `${["first", "second"][c]} half` : `chain ${report.diagnostics.chains[c]}`);
  const color = (c) => chainColor(halves() ? 5 * c : report.diagnostics.chains[c] - 1);
  return figure({
    title: () => `Rank plots: ${traceName(chosen().name)}`,
    label: () => `For each chain a histogram of the ranks of its draws among those of all chains. ${
        chosen().bins.map((bins, c) => `${partName(c)}: from ${d3.min(bins)} to ${d3.max(bins)} per bin`).join("; ")}`,
    note: () =>
        (halves() ? "There is one chain. Ranks of the draws of each half among all draws; flat if the halves agree." :
                    "Ranks of a chain's draws among the draws of all chains; flat if the chains agree."),
    height: (width) => Math.ceil(chosen().bins.length / (width > 420 ? 2 : 1)) * 120 + 8,
    draw: (svg, width) => {
      const across = width > 420 ? 2 : 1, wide = width / across;
      const most = d3.max(chosen().bins.flat());
      chosen().bins.forEach((bins, c) => {
        const group =
            svg.append("g").attr("transform", `translate(${(c % across) * wide},${Math.floor(c / across) * 120})`);
        const x = d3.scaleLinear().domain([0, bins.length]).range([8, wide - 12]);
        const y = d3.scaleLinear().domain([0, most]).range([100, 22]);
        const expected = d3.sum(bins) / bins.length;
        group.append("text").attr("class", "label").attr("x", 8).attr("y", 14).text(partName(c));
        const item = group.selectAll("rect")
                         .data(bins)
                         .join("rect")
                         .attr("class", "column")
                         .attr("fill", color(c))
                         .attr("x", (b, i) => x(i) + 0.5)
                         .attr("width", x(1) - x(0) - 1)
                         .attr("y", (b) => y(b))
                         .attr("height", (b) => 100 - y(b));
        withTooltip(item, (b) => [`${count(b)} draws`, `${short(expected)} expected`]);
        group.append("line")
            .attr("class", "expected")
            .attr("x1", x(0))
            .attr("x2", x(bins.length))
            .attr("y1", y(expected))
            .attr("y2", y(expected));
      });
    },
    data: () => [
        ["chain", "bin", "draws"], ...chosen().bins.flatMap((bins, c) => bins.map((b, i) => [partName(c), i + 1, b]))],
  });
}

// draw(name) shows the trace of a quantity that has one.
function quantitiesTable(draw) {
  const rows = report.diagnostics.quantities;
  const drawn = new Set(report.diagnostics.traces.map((trace) => trace.name));
  // The worst cells first, and no more of them than one reads, until asked for.
  const few = 12;
  const worst = [...rows.filter((q) => !q.cell), ...rows.filter((q) => q.cell).sort((a, b) => rHat(b) - rHat(a))];
  let sortBy = null, down = true, all = false;
  const names = ["quantity", "mean", "sd", "mcse", "R-hat", "bulk ESS", "tail ESS", "ESS/s"];
  const keys = [null, "mean", "sd", "mcse", "r_hat", "ess_bulk", "ess_tail", "ess_per_second"];
  const box = h("div", {});
  const digits = (q) => (q.mcse > 0 ? Math.max(0, Math.min(8, 1 - Math.floor(Math.log10(q.mcse)))) : 4);
  const value = (q) => (sortBy === "r_hat" ? rHat(q) : q[sortBy] === null ? -Infinity : q[sortBy]);
  function fill() {
    const sorted = sortBy ? [...rows].sort((a, b) => (down ? value(b) - value(a) : value(a) - value(b))) : worst;
    const shown = all ? sorted : sorted.slice(0, rows.filter((q) => !q.cell).length + few);
    const element = table(
        names,
        shown.map(
            (q) =>
                [h("span", {},
                   drawn.has(q.name) ?
                       h("button", {type: "button", class: "plain", onclick: () => draw(q.name)}, quantityName(q)) :
                       quantityName(q),
                   q.outcome === null || q.outcome === undefined ?
                       "" :
                       h("span", {class: "hint"}, q.outcome ? ", a held-out one" : ", a held-out zero"),
                   q.chosen ? h("span", {class: "hint"}, `, ${q.chosen}`) : ""),
                 fixed(q.mean, digits(q)), short(q.sd), short(q.mcse),
                 q.constant ? "constant" :
                              h("span", {class: `grade ${verdictGrade(q.r_hat, Math.min(q.ess_bulk, q.ess_tail))}`},
                                fixed(q.r_hat, 3)),
                 fixed(q.ess_bulk, 0), fixed(q.ess_tail, 0), short(q.ess_per_second)]),
        {numeric: [1, 2, 3, 4, 5, 6, 7], caption: "R-hat and effective sample sizes", id: "quantities"});
    element.querySelectorAll("th").forEach((cell, i) => {
      if (!keys[i]) return;
      cell.setAttribute("aria-sort", sortBy === keys[i] ? (down ? "descending" : "ascending") : "none");
      cell.replaceChildren(
          h("button", {
            type: "button",
            class: "sort",
            onclick: () => {
              down = sortBy === keys[i] ? !down : true;
              sortBy = keys[i];
              fill();
              box.querySelectorAll("th")[i].querySelector("button").focus();
            }
          },
            names[i], sortBy === keys[i] ? (down ? " ▾" : " ▴") : ""));
    });
    const more =
        h("button", {
          type: "button",
          onclick: () => {
            all = !all;
            fill();
          }
        },
          all ? "Show fewer" : `Show all ${count(rows.length)}`);
    box.replaceChildren(element, rows.length > shown.length || all ? more : "");
  }
  fill();
  const save = () => download(
      fileName("diagnostics", "tsv"), "text/tab-separated-values", tsvText([
        ["quantity", ...keys.slice(1)], ...rows.map((q) => [quantityName(q), ...keys.slice(1).map((key) => q[key])])
      ]));
  return h(
      "div", {},
      h("div", {class: "table-head"}, h("h3", {}, "R-hat and effective sample sizes"),
        h("button", {type: "button", class: "small data-download", onclick: save}, "data")),
      h("p", {class: "note"},
        "R-hat: 1 if chains agree, good up to 1.01, usable up to 1.05. ESS: number of independent draws that the " +
        "chains are " +
            `worth, good from 400, usable from 100 (Vehtari et al. 2021). ${
                plural(
                    report.diagnostics.watched, "cell")} ${report.diagnostics.watched === 1 ? "is" : "are"} watched.`),
      box);
}

function diagnosticsView(section) {
  const d = report.diagnostics;
  const names = d.traces.map((trace) => trace.name);
  let name = names[0];
  const chosenTrace = () => d.traces.find((trace) => trace.name === name);
  const chosenRanks = () => d.ranks.find((ranks) => ranks.name === name) || d.ranks[0];
  const plots = d.traces.length ? [traceFigure(chosenTrace), d.ranks.length ? ranksFigure(chosenRanks) : ""] : [];
  const choice =
      h("select", {
        id: "quantity",
        onchange: () => {
          name = choice.value;
          plots.forEach((plot) => plot && plot.redraw());
        }
      },
        names.map((n) => h("option", {value: n}, traceName(n))));
  const draw = (wanted) => {
    choice.value = wanted;
    choice.dispatchEvent(new Event("change"));
    choice.scrollIntoView({block: "center"});
  };
  section.append(
      verdictCard(0, converged(), null),
      h("p", {class: "facts"},
        `${plural(d.chains.length, "chain")}, ${plural(d.draws, "sweep")} each after burn-in: ${
            seconds(d.seconds)} of sampling, summed over chains. ` +
            `${plural(report.run.draws, "draw")} of these are kept for predictions.`),
      names.length ? h("div", {class: "controls"}, labelFor("quantity", "Quantity "), choice) : "",
      names.length && d.traces[0].chains.length > 1 ?
          legend(d.traces[0].chains.map(
              (chain, c) => ({name: `chain ${c + 1}`, color: chainColor(c), dash: chainDash(c)}))) :
          "",
      h("div", {class: "columns"}, plots), quantitiesTable(draw),
      h("div", {class: "columns"}, d.occupied.posterior.length ? occupiedFigure() : "", occupiedByChain() || ""));
}
