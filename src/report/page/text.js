// ---- text.js: elements, and numbers as people read them. Labels come from data: they only ever become text nodes.

// An element. Attributes that are functions listen to the event of that name (onclick); null and false ones are left
// out.
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false || value === undefined) continue;
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value);
    else
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
      ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// The words beside an input.
function labelFor(id, text) {
  const label = h("label", {}, text);
  label.htmlFor = id;
  return label;
}

const minus = "\u2212";
const missing = "–";

// 1234567 as 1,234,567.
function count(value) {
  return value === null ? missing : d3.format(",")(Math.round(value)).replace("-", minus);
}

function fixed(value, digits) {
  if (value === null || value === undefined) return missing;
  if (value === "inf") return "infinite";
  return value.toFixed(digits).replace("-", minus);
}

// Three digits that mean something: 0.00123, 1.23, 12,300.
function short(value) {
  if (value === null || value === undefined) return missing;
  if (typeof value === "string") return value;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return count(value);
  if (size < 1e-4) return value.toExponential(1).replace("-", minus);
  return String(Number(value.toPrecision(3))).replace("-", minus);
}

// A part of one: 12.34 %. Tiny ones are not rounded to nothing.
function percent(value, digits = 1) {
  if (value === null || value === undefined) return missing;
  const shown = (100 * value).toFixed(digits);
  if (value > 0 && Number(shown) === 0) return `<\u202f${(10 ** -digits).toFixed(digits)}\u202f%`;
  return `${shown.replace("-", minus)}\u202f%`;
}

function seconds(value) {
  if (value === null) return missing;
  if (value < 60) return `${value.toFixed(1)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(value % 60)).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

function bytes(value) {
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} kB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(0)} MB` : `${(value / 1e9).toFixed(1)} GB`;
}

// With a capital letter at the beginning.
function upper(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// "1 chain", "2 chains".
function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// What a listed cell is called: "one", or where the data have counts, "positive cell".
function oneWord() {
  return report.run.likelihood === "count" ? "positive cell" : "one";
}

// Nothing longer than so many letters; the whole text is in the tooltip.
function cut(text, letters) {
  const all = Array.from(text);
  return all.length <= letters ? text : `${all.slice(0, letters - 1).join("")}…`;
}

// A label that can be seen even if it is empty or blank.
function visible(label) {
  return label.trim() === "" ? `"${label}"` : label;
}

// A word as a shell would need it.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
