// ---- views/entities.js: type a name, and see what the model knows of it.

const mostHits = 12;

// [[component index, share], ...], largest first.
function profileOf(k, place) {
  const {start, component, share} = report.entities[k];
  return d3.range(start[place], start[place + 1]).map((i) => [component[i], share[i]]);
}

// Entities of the mode with the most similar parts in the components: sum over components of the roots of both shares,
// 1 if they are the same.
function neighboursOf(k, place, most) {
  const {start, component, share} = report.entities[k];
  const roots = new Float64Array(report.components.list.length);
  for (const [r, part] of profileOf(k, place)) roots[r] = Math.sqrt(part);
  const scored = [];
  for (let j = 0; j + 1 < start.length; ++j) {
    if (j === place) continue;
    let sum = 0;
    for (let i = start[j]; i < start[j + 1]; ++i) sum += roots[component[i]] * Math.sqrt(share[i]);
    if (sum > 0.05) scored.push([j, Math.min(1, sum)]);
  }
  return scored.sort((a, b) => b[1] - a[1] || report.modes[k].ones[b[0]] - report.modes[k].ones[a[0]] || a[0] - b[0])
      .slice(0, most);
}

// Letters without case and accents: "cote d'ivoire" finds "Côte d'Ivoire".
function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

// What a text finds: names that begin with it, then words that do, then names that have it anywhere; those with most
// ones first.
const plainLabels = [];
function search(text) {
  const wanted = plain(text.trim());
  if (wanted === "") return [];
  const hits = [];
  report.modes.forEach((mode, k) => {
    plainLabels[k] = plainLabels[k] || mode.labels.map(plain);
    plainLabels[k].forEach((label, place) => {
      const at = label.indexOf(wanted);
      if (at < 0) return;
      const rank = label === wanted ? 0 : at === 0 ? 1 : /[^\p{L}\p{N}]/u.test(label[at - 1]) ? 2 : 3;
      hits.push({k, place, rank});
    });
  });
  return hits.sort(
      (a, b) => a.rank - b.rank || report.modes[b.k].ones[b.place] - report.modes[a.k].ones[a.place] || a.k - b.k ||
          a.place - b.place);
}

// A field with a list below it, as the ARIA practices describe a combobox: arrows move, Enter takes, Escape closes.
function searchField(choose) {
  let hits = [], active = -1;
  const list = h("ul", {id: "hits", role: "listbox", "aria-label": "Entities", hidden: true});
  const status = h("p", {class: "hint", role: "status"});
  const input = h("input", {
    id: "search",
    type: "search",
    role: "combobox",
    "aria-controls": "hits",
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    autocomplete: "off",
    placeholder: `a name: ${report.modes.map((mode) => mode.name).join(", ")}`,
    oninput: show,
    onkeydown: key,
    onfocus: show,
    onblur: () => setTimeout(() => document.activeElement === input || close(), 150)
  });
  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }
  function take(hit) {
    close();
    input.value = "";
    status.textContent = "";
    choose(hit.k, hit.place);
  }
  function show() {
    const all = search(input.value);
    hits = all.slice(0, mostHits);
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...hits.map(
        (hit, i) =>
            h("li", {
              id: `hit-${i}`,
              role: "option",
              "aria-selected": "false",
              onmousedown: (event) => {
                event.preventDefault();
                take(hit);
              }
            },
              h("span", {}, visible(report.modes[hit.k].labels[hit.place])),
              h("span", {class: "hint"},
                `${report.modes[hit.k].name}, ${plural(report.modes[hit.k].ones[hit.place], "one")}`))));
    list.hidden = hits.length === 0;
    input.setAttribute("aria-expanded", String(hits.length > 0));
    status.textContent = input.value.trim() === "" ? "" :
        all.length === 0                           ? "Nothing is called that." :
        all.length > hits.length                   ? `${count(all.length)} names; these ${hits.length} come first.` :
                                                     plural(all.length, "name");
  }
  function key(event) {
    if (event.key === "Escape") return close();
    if (event.key === "Enter" && hits.length && !list.hidden) return take(hits[Math.max(0, active)]);
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step || hits.length === 0) return null;
    event.preventDefault();
    active = (active + step + hits.length) % hits.length;
    Array.from(list.children).forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    input.setAttribute("aria-activedescendant", `hit-${active}`);
    return null;
  }
  return h(
      "div", {class: "search"}, labelFor("search", "Find an entity"), h("div", {class: "combobox"}, input, list),
      status);
}

function profileFigure(k, place) {
  const profile = profileOf(k, place);
  const rest = 1 - d3.sum(profile, (p) => p[1]);
  return figure({
    title: "Its components",
    subject: `of ${report.modes[k].labels[place]}`,
    label: `Bars: the shares of its components. ${
        profile.slice(0, 5).map(([r, share]) => `${componentName(r)} ${percent(share)}`).join("; ")}`,
    note: `Parts of what the model expects of it${rest > 0.01 ? `; ${percent(rest)} is spread over others` : ""}.`,
    height: barsHeight(profile.length, false),
    interactive: true,
    draw: (svg, width) => bars(
        svg, width,
        profile.map(([r, share]) => ({
                      key: r,
                      label: `${report.components.list[r].number}  ${componentName(r)}`,
                      value: share,
                      press: () => goTo("components", report.components.list[r].number),
                      name: `Component ${report.components.list[r].number}, ${componentName(r)}: ${percent(share)}`,
                      lines: () => componentLines(r)
                    })),
        {format: (v) => percent(v), axis: false}),
    data: () => [
        ["component", "name", "share"],
        ...profile.map(([r, share]) => [report.components.list[r].number, componentName(r), share])],
  });
}

function neighboursFigure(k, place) {
  const mode = report.modes[k];
  const neighbours = neighboursOf(k, place, 10);
  if (neighbours.length === 0)
    return h("p", {class: "note"}, "It has no neighbours: no other entity has its components.");
  return figure({
    title: "Its nearest neighbours",
    subject: `of ${mode.labels[place]}`,
    label: `Bars: the most similar entities of ${mode.name}. ${
        neighbours.map(([j, s]) => `${mode.labels[j]} ${fixed(s, 2)}`).join("; ")}`,
    note: "How alike their components are: 1 if these are the same.",
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

// Why a cell is probable: the components' shares of its rate, as one bar of pieces and as links.
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
      why.slice(0, 4).map(([r, share]) => h("span", {class: "why"}, componentLink(r), ` ${percent(share, 0)}`));
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
    note: `Cells that are not among the ${oneWord()}s that the fit was shown. Probability of ${
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
                             ([r, share]) =>
                                 `${percent(share, 0)} by ${report.components.list[r].number}: ${componentName(r)}`)]
                            .filter((line) => line)
            })),
        {format: (v) => percent(v), most: most > 0.5 ? 1 : most, color: "var(--third)"}),
    data: () => [
        [...report.modes.map((m) => m.name), "probability", "sd", "q05", "q95", "held_out", "why"],
        ...cells.map(
            (d) =>
                [...d.cell.map((p, i) => labelOf(i, p)), d.probability, d.sd, d.q05, d.q95, d.held_out,
                 d.why.map(([r, share]) => `${report.components.list[r].number}:${(100 * share).toFixed(0)}%`)
                     .join(" ")])],
  });
}

function unseenTable(k, cells) {
  const others = d3.range(report.modes.length).filter((i) => i !== k);
  const tested = cells.some((d) => d.held_out !== undefined);
  const head = [
    ...others.map((i) => report.modes[i].name), "probability", "90 % interval", ...(tested ? ["held out?"] : []),
    "why: share of the rate by component"
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
        h("p", {class: "note"}, "More of them: ", command));
  return h(
      "div", {}, h("h3", {}, "Its most probable unseen cells"),
      h("p", {class: "note"},
        `The report has these of ${plural(report.entities[k].unseen_of, "entity", "entities")} of ${
            mode.name}, those with most ones. For this one:`),
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
      searchField(choose),
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
    const cold = mode.ones[place] === 0;
    const network = (report.networks || []).some((n) => n.mode === k);
    result.replaceChildren(
        h("h3", {class: "entity-name", "aria-live": "polite"}, visible(mode.labels[place])),
        h("p", {class: "facts"},
          `${mode.name} · ${plural(mode.ones[place], `training ${oneWord()}`)} · ${
              percent(mode.overall[place], 2)} of all that the model expects`,
          cold ? h("span", {class: "badge fair"},
                   network ? "cold start: placed by its network alone" : "no data: what is shown is the prior") :
                 ""),
        h("div", {class: "columns"}, profileFigure(k, place), neighboursFigure(k, place)), unseenPart(k, place));
  }
  return {show};
}
