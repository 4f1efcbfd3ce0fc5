// ---- views/columns.js: where components share columns: columns as communities of entities, and how they meet.

// Pairs of modes that the matrix can have: tied modes first, then those that are not one-hot.
function matrixPairs() {
  const modes = d3.range(report.modes.length);
  const pairs = modes.flatMap((k) => modes.filter((l) => l > k).map((l) => [k, l]));
  const rank = ([k, l]) => (matrixOf(k) === matrixOf(l) ? 0 : 1) + (isOwn(k) ? 2 : 0) + (isOwn(l) ? 2 : 0);
  return pairs.sort((a, b) => rank(a) - rank(b));
}

// What an address asks for: for some modes a column. ["subject", "3", "relation", "affects"], or null if that is none.
function pickedFrom(parts) {
  const picked = new Map();
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const k = report.modes.findIndex((mode) => mode.name === parts[i]);
    const column = k < 0 ? -1 : columnFromAddress(k, parts[i + 1]);
    if (column === -1) return null;
    picked.set(k, column);
  }
  return parts.length % 2 ? null : picked;
}

function sameColumn(k, column, l, other) {
  return matrixOf(k) === matrixOf(l) && column === other;
}

// Entries that have what is picked: of one column, in any mode of its matrix.
function entriesWith(picked) {
  return coreEntries().filter((e) => [...picked].every(([k, column]) => e.columns[k] === column));
}

// The select of a mode that is not in the matrix: all of it, or one of its columns.
function sliceChoice(k, state, change) {
  const there = new Map();
  for (const e of coreEntries()) there.set(e.columns[k], (there.get(e.columns[k]) || 0) + e.weight);
  const values = [...there.keys()].sort((a, b) => there.get(b) - there.get(a));
  const id = `slice-${k}`;
  const choice =
      h("select", {id, onchange: () => change(choice.selectedIndex ? values[choice.selectedIndex - 1] : null)},
        h("option", {}, `all (${count(values.length)})`), values.map((value) => h("option", {}, columnName(k, value))));
  choice.selectedIndex = state.slices.has(k) ? 1 + values.indexOf(state.slices.get(k)) : 0;
  return [labelFor(id, report.modes[k].name), choice];
}

// The heading and the sentence below it.
function pickedWords(picked) {
  const all = [...picked].sort((a, b) => a[0] - b[0]);
  if (all.length === 1) {
    const [[k, column]] = all;
    if (!isOwn(k)) return [groupLines(column)[0], groupLines(column).slice(1).join(" · ")];
    const entries = entriesWith(picked);
    return [
      columnName(k, column),
      `${report.modes[k].name} · weight ${fixed(d3.sum(entries, (e) => e.weight), 1)} in ${
          plural(entries.length, "core entry", "core entries")}`
    ];
  }
  const entries = entriesWith(picked);
  const name = pickedNumbers(all);
  if (entries.length === 1) return [name, entryLines(entries[0]).slice(report.modes.length).join(" · ")];
  return [
    name,
    entries.length ? `weight ${fixed(d3.sum(entries, (e) => e.weight), 1)} in ${count(entries.length)} entries` :
                     "They do not meet: no entry of the core has all of them."
  ];
}

// The plots beside the matrix: entities of the columns, and the entries that have them.
function pickedPlots(picked, settings) {
  const all = [...picked].sort((a, b) => a[0] - b[0]);
  const shown =
      all.filter(([k, column], i) => !isOwn(k) && all.findIndex(([l, other]) => sameColumn(k, column, l, other)) === i);
  const plots = shown.map(([k, column]) => {
    const mode = report.modes[k];
    if (lineOf(column, k)) return lineFigure(mode, k, () => column);
    const title = all.length > 1 ? `${groupList()[column].number}: ${mode.name}` :
                                   modesOfGroup(column).map((role) => report.modes[role].name).join(", ");
    return entityBars({...settings, index: () => column, title}, mode, k);
  });
  if (all.length > 1) {
    const entries = entriesWith(picked);
    return entries.length > 1 ? [...plots, entriesFigure("Entries of the core", entries, [...picked.keys()])] : plots;
  }
  const [[k, column]] = all;
  const roles = isOwn(k) ? [k] : modesOfGroup(column);
  return [
    ...plots, ...roles.map((role) => {
      const entries = coreEntries().filter((e) => e.columns[role] === column);
      if (entries.length === 0) return h("p", {class: "note"}, `No entry has it as ${report.modes[role].name}.`);
      const title = isOwn(k) ? "Which columns it joins" :
          roles.length > 1   ? `As ${report.modes[role].name}` :
                               "What it meets";
      return entriesFigure(title, entries, [role]);
    })
  ];
}

function columnsView(section) {
  const pairs = matrixPairs();
  const largest = groupList().length ? d3.scan(groupList(), (a, b) => b.weight - a.weight) : -1;
  const first = largest >= 0 ? new Map([[modesOfGroup(largest)[0], largest]]) :
                               new Map([[0, coreEntries().length ? coreEntries()[0].columns[0] : 0]]);
  const state = {pair: pairs[0], slices: new Map(), picked: first, relevance: 1, entity: null};
  const chosen = (k, column) => [...state.picked].some(([l, other]) => sameColumn(k, column, l, other));
  const matrix = matrixFigure(state, chosen);
  const heading = h("h3", {class: "component-name", "aria-live": "polite"});
  const facts = h("p", {class: "facts"});
  const plots = h("div", {class: "bars-grid"});
  const slices = h("span", {class: "controls"});
  const ofBars = h("div", {}, relevanceControl("column-relevance", (relevance) => {
                     state.relevance = relevance;
                     plots.querySelectorAll("figure").forEach((plot) => plot.redraw());
                   }), barsLegend());
  const found = h("p", {class: "facts"});

  const pairChoice =
      h("select", {
        id: "pair",
        onchange: () => {
          state.pair = pairs[pairChoice.selectedIndex];
          state.slices = new Map();
          drawSlices();
          matrix.redraw();
        }
      },
        pairs.map((pair) => h("option", {}, pair.map((k) => report.modes[k].name).join(" × "))));
  const many = groupList().length;
  const choice = h(
      "select", {id: "column", "aria-label": "Column", onchange: () => goTo(...groupAddress(choice.selectedIndex - 1))},
      h("option", {disabled: true}, "go to a column"),
      groupList().map((column, i) => h("option", {}, groupLines(i)[0])));
  const step = (by) => {
    const at = choice.selectedIndex > 0 ? choice.selectedIndex - 1 : by > 0 ? -1 : 0;
    replaceAddress(...groupAddress((at + by + many) % many));
  };

  function drawSlices() {
    const others = d3.range(report.modes.length).filter((k) => !state.pair.includes(k));
    slices.replaceChildren(...others.flatMap((k) => sliceChoice(k, state, (value) => {
                                               if (value !== null)
                                                 return goTo("columns", report.modes[k].name, columnAddress(k, value));
                                               state.slices.delete(k);
                                               state.picked = first;
                                               return address().rest.length ? goTo("columns") : show([]);
                                             })));
  }
  function drawFound() {
    if (!state.entity) return found.replaceChildren();
    const [k, place] = state.entity;
    return found.replaceChildren(
        entityLink(k, report.modes[k].labels[place]), " is in ",
        ...profileOf(k, place).slice(0, 6).flatMap(
            ([index, share]) => [groupLink(index, `${groupList()[index].number}`), ` ${percent(share, 0)} `]),
        h("button", {
          type: "button",
          class: "small",
          onclick: () => {
            state.entity = null;
            drawFound();
            matrix.light();
          }
        },
          "clear"));
  }
  function drawPlots() {
    const settings = {relevance: () => state.relevance, most: 14, map: matrix};
    plots.replaceChildren(...pickedPlots(state.picked, settings));
  }
  const search = searchField("find-column", (k, place) => {
    if (isOwn(k)) return goTo("columns", report.modes[k].name, report.modes[k].labels[place]);
    state.entity = [k, place];
    drawFound();
    const profile = profileOf(k, place);
    return profile.length ? goTo(...groupAddress(profile[0][0])) : matrix.light();
  }, report.columns.matrices.map((m) => m.modes[0]));

  section.append(
      h("div", {class: "columns core-and-bars"},
        h("div", {}, search, found, h("div", {class: "controls"}, labelFor("pair", "Matrix of"), pairChoice, slices),
          matrix),
        h("div", {},
          h("div", {class: "chooser"},
            h("button", {type: "button", "aria-label": "Previous column", onclick: () => step(-1)}, "‹"), heading,
            h("button", {type: "button", "aria-label": "Next column", onclick: () => step(1)}, "›")),
          facts, many ? h("div", {class: "controls"}, choice) : "", ofBars, plots)));

  function show(parts) {
    const picked = pickedFrom(parts);
    if (picked && picked.size) {
      state.picked = picked;
      for (const [k, column] of picked)
        if (!state.pair.includes(k)) state.slices.set(k, column);
    }
    const [name, words] = pickedWords(state.picked);
    heading.textContent = name;
    facts.textContent = picked ? words : `There is no ${parts.join(" ")} in use. ${words}`;
    const groups = [...state.picked].filter(([k]) => !isOwn(k));
    choice.selectedIndex = groups.length ? 1 + groups[0][1] : 0;
    ofBars.hidden = groups.length === 0;
    drawSlices();
    drawPlots();
    matrix.redraw();
  }
  return {show};
}
