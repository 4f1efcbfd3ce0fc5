// ---- core.js: entries of the core, where components share columns: which columns meet, and in which weight.

// [{columns, weight, q05, q95, stability}], largest weight first. columns has for each mode the index of a column in
// the list or, where entities have columns of their own, the place of the entity, or its label if the report leaves it
// out.
let entriesMade = null;
function coreEntries() {
  if (!entriesMade) {
    const {entries, weight, q05, q95, stability} = report.columns.core;
    entriesMade = entries.map((columns, e) => ({
                                columns,
                                weight: weight[e],
                                q05: q05[e],
                                q95: q95[e],
                                stability: stability[e],
                              }));
  }
  return entriesMade;
}

// What an entry has in mode k, as addresses have it, and as people read it.
function columnAddress(k, column) {
  return isOwn(k) ? labelOf(k, column) : groupList()[column].number;
}

function columnNumber(k, column) {
  return isOwn(k) ? visible(labelOf(k, column)) : String(groupList()[column].number);
}

function columnName(k, column) {
  return isOwn(k) ? visible(labelOf(k, column)) : `${groupList()[column].number}  ${groupName(column)}`;
}

function columnFromAddress(k, text) {
  if (isOwn(k)) {
    const place = report.modes[k].labels.indexOf(text);
    return place >= 0 ? place : coreEntries().some((e) => e.columns[k] === text) ? text : -1;
  }
  return groupsOfMode(k).find((i) => String(groupList()[i].number) === String(text)) ?? -1;
}

// The entry in one line: what it has in each mode but those left out.
function entryNumbers(columns) {
  return columns.map((column, k) => (isOwn(k) ? null : columnNumber(k, column))).filter((t) => t !== null).join(" · ");
}

function entryName(columns) {
  return columns.map((column, k) => columnName(k, column)).join(" → ");
}

// "affects: 3 → 5", of some modes: [[k, column], ...].
function pickedNumbers(picked) {
  const text = (own, between) =>
      picked.filter(([k]) => isOwn(k) === own).map(([k, column]) => columnNumber(k, column)).join(between);
  return [text(true, ", "), text(false, " → ")].filter((part) => part).join(": ");
}

// The same where there is little room, without some modes: "affects: 3 Virus → 5 Mammal".
function entryLabel(columns, without = []) {
  const modes = d3.range(columns.length).filter((k) => !without.includes(k));
  const own = modes.filter(isOwn).map((k) => cut(columnNumber(k, columns[k]), 24));
  const shared = modes.filter((k) => !isOwn(k)).map((k) => {
    const [telling] = barsOf(columns[k], k, tellingRelevance, 1);
    return `${columnNumber(k, columns[k])} ${telling ? cut(visible(telling.label), 14) : ""}`.trim();
  });
  return [own.join(", "), shared.join(" → ")].filter((text) => text).join(": ");
}

function entryAddress(columns) {
  return ["columns", ...columns.flatMap((column, k) => [report.modes[k].name, columnAddress(k, column)])];
}

function weightText({weight, q05, q95}) {
  return `${fixed(weight, 1)} [${fixed(q05, 1)}, ${fixed(q95, 1)}]`;
}

function entryLines(entry) {
  return [
    ...entry.columns.map((column, k) => `${report.modes[k].name}: ${columnName(k, column)}`),
    `weight ${weightText(entry)}`, entry.stability === null ? "" : `stability ${fixed(entry.stability, 2)}`
  ].filter((line) => line);
}

// Bars of entries, strongest first. without: modes that need not be named, since all have the same there.
function entriesFigure(title, entries, without, most = 12) {
  const shown = entries.slice(0, most);
  return figure({
    title,
    note: entries.length > most ? `The ${most} strongest of ${count(entries.length)} are shown. The downloaded data ` +
        `have all.` : "",
    label: `Bars: weights of ${plural(entries.length, "core entry", "core entries")}. ${
        shown.slice(0, 5).map((e) => `${entryLabel(e.columns, without)}: ${fixed(e.weight, 1)}`).join("; ")}`,
    height: barsHeight(shown.length),
    interactive: true,
    draw: (svg, width) => bars(
        svg, width, shown.map((e) => ({
                                key: e.columns.join(","),
                                label: entryLabel(e.columns, without),
                                value: e.weight,
                                low: e.q05,
                                high: e.q95,
                                press: () => goTo(...entryAddress(e.columns)),
                                name: `${entryName(e.columns)}: weight ${weightText(e)}`,
                                lines: () => entryLines(e)
                              })),
        {format: Object.assign((v) => fixed(v, 1), {axis: (v) => short(v)}), valueWidth: 58, color: "var(--third)"}),
    data: () => [
        [...report.modes.map((mode) => mode.name), "weight", "q05", "q95", "stability"],
        ...entries.map(
            (e) => [...e.columns.map((column, k) => columnAddress(k, column)), e.weight, e.q05, e.q95, e.stability])],
  });
}
