// ---- groups.js: what entities belong to: components or, where components share columns, columns of a factor matrix.

function groupList() {
  return (report.columns || report.components).list;
}

function groupWord() {
  return report.columns ? "column" : "component";
}

// The factor matrix of a mode: {modes, columns, own}. Only where components share columns.
function matrixOf(k) {
  return report.columns.matrices.find((matrix) => matrix.modes.includes(k));
}

// Whether each entity of a mode has a column of its own, so that it belongs to no group.
function isOwn(k) {
  return Boolean(report.columns && matrixOf(k).own);
}

// Indices of the groups that entities of a mode can belong to.
function groupsOfMode(k) {
  const all = d3.range(groupList().length);
  return report.columns ? all.filter((i) => report.columns.matrices[groupList()[i].matrix].modes.includes(k)) : all;
}

// Modes whose entities a group has.
function modesOfGroup(index) {
  return report.columns ? report.columns.matrices[groupList()[index].matrix].modes : d3.range(report.modes.length);
}

// The entities of a group in mode k, most relevant first.
function barsOf(index, k, relevance, most) {
  const {entity, value, q05, q95} = report.columns ? report.columns.bars[index] : report.components.bars[index][k];
  const overall = report.modes[k].overall;
  const score = (i) => relevance * Math.log(value[i]) + (1 - relevance) * Math.log(value[i] / overall[entity[i]]);
  const order =
      d3.range(entity.length).filter((i) => value[i] > 0).sort((a, b) => score(b) - score(a) || entity[a] - entity[b]);
  return order.slice(0, most).map((i) => ({
                                    entity: entity[i],
                                    label: report.modes[k].labels[entity[i]],
                                    value: value[i],
                                    low: q05[i],
                                    high: q95[i],
                                    overall: overall[entity[i]]
                                  }));
}

// How many entities there are bars of, and the line of an ordered mode, or null.
function barsThere(index, k) {
  return (report.columns ? report.columns.bars[index] : report.components.bars[index][k]).entity.length;
}

function lineOf(index, k) {
  if (report.columns) return report.columns.lines[index];
  return report.components.lines[index] && report.components.lines[index][k];
}

// The entity of each mode that tells most of a component, and the two that tell most of a column: relevance 0.6 is what
// Sievert and Shirley (2014) found to be read best.
const tellingRelevance = 0.6;

// "France · NATO": cached, since every view names groups.
const groupNames = new Map();
function groupName(index) {
  if (!groupNames.has(index)) {
    const telling = (k, most) => barsOf(index, k, tellingRelevance, most);
    const parts = report.columns ?
        telling(modesOfGroup(index)[0], 2) :
        report.modes.map((mode, k) => (mode.ordered || mode.size < 2 ? [] : telling(k, 1))).flat();
    const all = parts.length ? parts : telling(modesOfGroup(index)[0], 1);
    groupNames.set(index, all.map((d) => cut(visible(d.label), 24)).join(" · "));
  }
  return groupNames.get(index);
}

// "12", and "relation 12" where several matrices have columns.
function groupNumber(index) {
  const {number, matrix} = groupList()[index];
  const several = report.columns && report.columns.matrices.filter((m) => !m.own).length > 1;
  return several ? `${report.modes[report.columns.matrices[matrix].modes[0]].name} ${number}` : String(number);
}

function groupLines(index) {
  const c = groupList()[index];
  return [
    `${groupNumber(index)}: ${groupName(index)}`,
    `weight ${fixed(c.weight, 1)} [${fixed(c.q05, 1)}, ${fixed(c.q95, 1)}]`,
    c.share === undefined ? "" : `${percent(c.share)} of the ${oneWord()}s`,
    c.stability === null ? "" : `stability ${fixed(c.stability, 2)}`, c.network_only ? "used only by a network" : ""
  ].filter((line) => line);
}

function groupAddress(index) {
  const {number} = groupList()[index];
  return report.columns ? ["columns", report.modes[modesOfGroup(index)[0]].name, number] : ["components", number];
}

function hrefOf(address) {
  return `#${address.map((part) => encodeURIComponent(part)).join("/")}`;
}

// A chip that leads to a group.
function groupLink(index, text) {
  return h(
      "a", {class: "chip", href: hrefOf(groupAddress(index)), title: groupName(index)}, text || groupNumber(index));
}

// Whether the data have nothing of an entity: in its mode, and in the mode that is tied to it.
function isCold(k, place) {
  const modes = report.columns ? matrixOf(k).modes : [k];
  return modes.every((other) => report.modes[other].ones[place] === 0);
}
