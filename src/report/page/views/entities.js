// ---- views/entities.js: type a name, and see what the model knows of it.

// What an entity is made of, largest first: [[index of a component or column, share], ...]. Of an entity with a column
// of its own, [[the other columns of a core entry as a text, share], ...].
function profileOf(k, place) {
  if (isOwn(k)) return ownProfiles(k).get(place) || [];
  const {start, component, share} = report.entities[k];
  return d3.range(start[place], start[place + 1]).map((i) => [component[i], share[i]]);
}

const profilesMade = new Map();
function ownProfiles(k) {
  if (!profilesMade.has(k)) {
    const profiles = new Map();
    for (const entry of coreEntries()) {
      const of = profiles.get(entry.columns[k]) || profiles.set(entry.columns[k], []).get(entry.columns[k]);
      of.push([String(entry.columns.filter((column, i) => i !== k)), entry.weight]);
    }
    for (const of of profiles.values()) {
      const total = d3.sum(of, (p) => p[1]);
      of.forEach((p) => (p[1] /= total));
    }
    profilesMade.set(k, profiles);
  }
  return profilesMade.get(k);
}

// Entities of the mode with the most similar profiles: sum over groups of the roots of both shares, 1 if they are the
// same.
function neighboursOf(k, place, most) {
  const {start, component, share} = report.entities[k];
  const roots = new Map(profileOf(k, place).map(([r, part]) => [r, Math.sqrt(part)]));
  const alike =
      isOwn(k) ? (j) => d3.sum(profileOf(k, j), ([r, part]) => (roots.get(r) || 0) * Math.sqrt(part)) : (j) => {
        let sum = 0;  // no lists: there may be very many entities
        for (let i = start[j]; i < start[j + 1]; ++i) sum += (roots.get(component[i]) || 0) * Math.sqrt(share[i]);
        return sum;
      };
  const scored = [];
  for (let j = 0; j + 1 < start.length; ++j) {
    const sum = j === place ? 0 : alike(j);
    if (sum > 0.05) scored.push([j, Math.min(1, sum)]);
  }
  return scored.sort((a, b) => b[1] - a[1] || report.modes[k].ones[b[0]] - report.modes[k].ones[a[0]] || a[0] - b[0])
      .slice(0, most);
}

function profileFigure(k, place) {
  if (isOwn(k)) return entriesFigure("Its core entries", coreEntries().filter((e) => e.columns[k] === place), [k]);
  const profile = profileOf(k, place), word = groupWord();
  const rest = 1 - d3.sum(profile, (p) => p[1]);
  return figure({
    title: `Its ${word}s`,
    subject: `of ${report.modes[k].labels[place]}`,
    label: `Bars: the shares of its ${word}s. ${
        profile.slice(0, 5).map(([r, share]) => `${groupName(r)} ${percent(share)}`).join("; ")}`,
    note: `Where the model expects its ${oneWord()}s${rest > 0.01 ? `; ${percent(rest)} of them are in others` : ""}.`,
    height: barsHeight(profile.length, false),
    interactive: true,
    draw: (svg, width) => bars(
        svg, width, profile.map(([r, share]) => ({
                                  key: r,
                                  label: `${groupList()[r].number}  ${groupName(r)}`,
                                  value: share,
                                  press: () => goTo(...groupAddress(r)),
                                  name: `${upper(word)} ${groupList()[r].number}, ${groupName(r)}: ${percent(share)}`,
                                  lines: () => groupLines(r)
                                })),
        {format: (v) => percent(v), axis: false}),
    data: () => [[word, "name", "share"], ...profile.map(([r, share]) => [groupList()[r].number, groupName(r), share])],
  });
}

function neighboursFigure(k, place) {
  const mode = report.modes[k];
  const neighbours = neighboursOf(k, place, 10);
  if (neighbours.length === 0)
    return h(
        "p", {class: "note"},
        `It has no neighbours: no other entity shares its ${isOwn(k) ? "core entries" : `${groupWord()}s`}.`);
  return figure({
    title: "Its nearest neighbours",
    subject: `of ${mode.labels[place]}`,
    label: `Bars: the most similar entities of ${mode.name}. ${
        neighbours.map(([j, s]) => `${mode.labels[j]} ${fixed(s, 2)}`).join("; ")}`,
    note: `How similar their ${isOwn(k) ? "core entries" : `${groupWord()}s`} are: 1 if they are the same.`,
    height: barsHeight(neighbours.length, false),
    interactive: true,
    draw: (svg, width) => bars(
        svg, width,
        neighbours.map(
            ([j, s]) => ({
              key: j,
              label: mode.labels[j],
              value: s,
              press: () => goTo("entities", mode.name, mode.labels[j]),
              lines: () => [visible(mode.labels[j]), `similarity ${fixed(s, 3)}`, plural(mode.ones[j], oneWord())]
            })),
        {format: (v) => fixed(v, 3), axis: false, most: 1, color: "var(--second)"}),
    data: () => [["entity", "similarity", "ones"], ...neighbours.map(([j, s]) => [mode.labels[j], s, mode.ones[j]])],
  });
}

// A part of the rate of a cell: a component, or an entry of the core.
function partText(part) {
  return report.columns ? entryNumbers(part) : groupNumber(part);
}

function partName(part) {
  return report.columns ? entryName(part) : groupName(part);
}

function partLink(part) {
  return report.columns ?
      h("a", {class: "chip", href: hrefOf(entryAddress(part)), title: partName(part)}, partText(part)) :
      groupLink(part);
}

// Why a cell is probable: the shares of its rate, as one bar of pieces and as links.
function whyBar(why) {
  const shades = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c5)", "var(--c4)"];
  const svg = d3.create("svg").attr("width", 120).attr("height", 10).attr("aria-hidden", "true");
  let at = 0;
  why.slice(0, shades.length).forEach(([, share], i) => {
    svg.append("rect")
        .attr("x", 120 * at)
        .attr("width", Math.max(0, 120 * share - 1))
        .attr("height", 10)
        .attr("fill", shades[i]);
    at += share;
  });
  const links =
      why.slice(0, 4).map(([part, share]) => h("span", {class: "why"}, partLink(part), ` ${percent(share, 0)}`));
  return h("div", {}, svg.node(), h("div", {}, links));
}

// The label of an entity of a cell: its place, or the label itself where the report leaves the entity out.
function labelOf(k, entity) {
  return typeof entity === "string" ? entity : report.modes[k].labels[entity];
}

function entityLink(k, label, text = visible(label)) {
  return h("a", {href: `#entities/${encodeURIComponent(report.modes[k].name)}/${encodeURIComponent(label)}`}, text);
}

// A cell of the run's own test: the fit has not seen it, but it is known what it is.
function heldOut(d) {
  return d.held_out === undefined ? "" : d.held_out ? "it is a one" : "it is a zero";
}

function unseenFigure(k, place, cells) {
  const text = (d) =>
      d.cell.map((p, i) => (i === k ? null : visible(labelOf(i, p)))).filter((t) => t !== null).join(" · ");
  const most = d3.max(cells, (d) => d.q95);
  return figure({
    title: "Its most probable unseen cells",
    subject: `of ${report.modes[k].labels[place]}`,
    label: `Bars: probabilities. ${cells.map((d) => `${text(d)}: ${percent(d.probability)}`).join("; ")}`,
    note: `Cells that are not among the ${oneWord()}s that the fit was given. Probability of ${
        report.run.likelihood === "count" ? "a positive count" : "being a one"}, with a 90 % interval.`,
    height: barsHeight(cells.length),
    draw: (svg, width) => bars(
        svg, width,
        cells.map(
            (d, i) => ({
              key: i,
              label: text(d),
              value: d.probability,
              low: d.q05,
              high: d.q95,
              lines:
                  () => [text(d), `${percent(d.probability)} [${percent(d.q05)}, ${percent(d.q95)}], sd ${short(d.sd)}`,
                         heldOut(d),
                         ...d.why.slice(0, 4).map(
                             ([part, share]) => `${percent(share, 0)} by ${partText(part)}: ${partName(part)}`)]
                            .filter((line) => line)
            })),
        {format: (v) => percent(v), most: most > 0.5 ? 1 : most, color: "var(--third)"}),
    data: () => [
        [...report.modes.map((m) => m.name), "probability", "sd", "q05", "q95", "held_out", "why"],
        ...cells.map(
            (d) =>
                [...d.cell.map((p, i) => labelOf(i, p)), d.probability, d.sd, d.q05, d.q95, d.held_out,
                 d.why.map(([part, share]) => `${partText(part)}:${(100 * share).toFixed(0)}%`).join(" ")])],
  });
}

function unseenTable(k, cells) {
  const others = d3.range(report.modes.length).filter((i) => i !== k);
  const tested = cells.some((d) => d.held_out !== undefined);
  const head = [
    ...others.map((i) => report.modes[i].name), "probability", "90 % interval", ...(tested ? ["held out?"] : []),
    `why: share of the rate by ${report.columns ? "core entry" : "component"}`
  ];
  const rows = cells.map(
      (d) =>
          [...others.map(
               (i) => (typeof d.cell[i] === "string" ? visible(d.cell[i]) : entityLink(i, labelOf(i, d.cell[i])))),
           percent(d.probability), `${percent(d.q05)} to ${percent(d.q95)}`,
           ...(tested ? [heldOut(d) ? h("span", {class: `badge ${d.held_out ? "good" : "fair"}`}, heldOut(d)) : ""] :
                        []),
           whyBar(d.why)]);
  return table(
      head, rows, {numeric: [others.length, others.length + 1], caption: "Unseen cells and why", id: "unseen"});
}

function unseenPart(k, place) {
  const mode = report.modes[k];
  const cells = report.entities[k].unseen[place];
  const command =
      h("code", {class: "command"},
        `ztp recommend ${quoted(report.run.directory)} ${quoted(`${mode.name}=${mode.labels[place]}`)}`);
  if (cells && cells.length)
    return h(
        "div", {}, unseenFigure(k, place, cells), unseenTable(k, cells),
        h("p", {class: "note"}, "For more: ", command));
  return h(
      "div", {}, h("h3", {}, "Its most probable unseen cells"),
      h("p", {class: "note"},
        `The report has unseen cells for the ${plural(report.entities[k].unseen_of, "entity", "entities")} of ${
            mode.name} with the most ones. For this one, run:`),
      command);
}

// What is shown before anything was asked for: of the first mode without an order, the entity with most ones.
function firstEntity() {
  const k = Math.max(0, report.modes.findIndex((mode) => !mode.ordered));
  return [k, d3.scan(report.modes[k].ones, (a, b) => b - a)];
}

function entitiesView(section) {
  const result = h("div", {id: "entity"});
  let last = null;  // the link of the view leads back to it
  const choose = (k, place) => goTo("entities", report.modes[k].name, report.modes[k].labels[place]);
  const examples = report.modes.map((mode, k) => {
    const place = d3.scan(mode.ones, (a, b) => b - a);
    return entityLink(k, mode.labels[place], visible(cut(mode.labels[place], 40)));
  });
  section.append(
      searchField("search", choose),
      h("p", {class: "hint examples"}, "For example ", examples.map((link, i) => [i ? ", " : "", link])), result);

  function show([modeName, label]) {
    let k = report.modes.findIndex((mode) => mode.name === modeName);
    let place = k < 0 ? -1 : report.modes[k].labels.indexOf(label);
    if (place < 0 && modeName !== undefined && label !== undefined) {
      result.replaceChildren(h("p", {role: "alert"}, `The report has no ${modeName} called "${label}".`));
      return;
    }
    if (place < 0) [k, place] = last || firstEntity();
    last = [k, place];
    const mode = report.modes[k];
    const cold = isCold(k, place);
    const modes = report.columns ? matrixOf(k).modes : [k];
    const network = (report.networks || []).some((n) => modes.includes(n.mode));
    result.replaceChildren(
        h("h3", {class: "entity-name", "aria-live": "polite"}, visible(mode.labels[place])),
        h("p", {class: "facts"},
          `${mode.name} · ${plural(mode.ones[place], `training ${oneWord()}`)} · ${
              percent(mode.overall[place], 2)} of all ${oneWord()}s that the model expects${
              report.columns && matrixOf(k).modes.length > 1 ? ", in either role" : ""}`,
          cold ? h("span", {class: "badge fair"},
                   network ? "cold start: known from its network alone" :
                             "no data: only what the model assumes before it sees any") :
                 ""),
        h("div", {class: "columns"}, profileFigure(k, place), neighboursFigure(k, place)), unseenPart(k, place));
  }
  return {show};
}
