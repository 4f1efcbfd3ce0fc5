// ---- figure.js: a plot with its title, its words for those who cannot see it, and its downloads.

// The properties that make a plot look as it does; written into it for a file of its own.
const svgStyles = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor", "paint-order"
];

// The plot as a file that needs no style sheet: with its title above it, and the page's colour behind it.
function svgText(svg, title) {
  const room = 30;
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of svgStyles) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "tabindex", "role", "data-key"]) element.removeAttribute(name);
    if (originals[i].classList.contains("hit")) element.remove();
  });
  const page = getComputedStyle(document.documentElement);
  const picture = d3.select(copy)
                      .attr("xmlns", "http://www.w3.org/2000/svg")
                      .attr("viewBox", `0 ${- room} ${width} ${height + room}`)
                      .attr("height", height + room);
  picture.insert("text", ":first-child")
      .attr("x", 8)
      .attr("y", -10)
      .attr("font-family", page.fontFamily)
      .attr("font-size", 15)
      .attr("font-weight", 600)
      .attr("fill", page.color)
      .text(title);
  picture.insert("rect", ":first-child")
      .attr("y", -room)
      .attr("width", width)
      .attr("height", height + room)
      .attr("fill", page.backgroundColor);
  picture.insert("title", ":first-child").text(title);
  return `<?xml version="1.0" encoding="utf-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

// Rows as tab-separated text, as all of ztp writes it; what would break a line becomes a blank.
function tsvText(rows) {
  return rows
      .map(
          (row) =>
              row.map((field) => (field === null || field === undefined ? "" : String(field).replace(/[\t\n\r]/g, " ")))
                  .join("\t"))
      .join("\n")
      .concat("\n");
}

function download(name, type, text) {
  const link = h("a", {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(title, ending) {
  const words = `${report.title} ${title}`.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${words.slice(0, 80)}.${ending}`;
}

// Plots follow the width that they have.
const widths = new ResizeObserver((entries) => {
  for (const entry of entries) {
    const width = Math.round(entry.contentRect.width);
    const plot = entry.target.plot;
    if (!entry.target.isConnected) widths.unobserve(entry.target);
    if (plot && width > 0 && width !== plot.width) plot.redraw(width);
  }
});

// {title, subject, label, height, draw(svg, width, height), data(), note, level, wide, interactive}
//   subject  what the plot is of, where the title alone does not tell: for the names of its downloads
//   label    what the plot shows, in a sentence, for screen readers
//   height   a number, or a function of the width
//   draw     fills a d3 selection of an empty svg
//   data     rows for the download, the first with the names
// Texts may be functions. Returns the element; its redraw() draws again, when what it shows has changed.
function figure(spec) {
  const text = (value) => (typeof value === "function" ? value() : value || "");
  const fullName = () => `${text(spec.title)} ${text(spec.subject)}`.trim();
  const box = h("div", {class: "plot"});
  const heading = h(spec.level || "h3", {}, text(spec.title));
  const svgButton =
      h("button", {
        type: "button",
        class: "small svg-download",
        onclick: () =>
            download(fileName(fullName(), "svg"), "image/svg+xml", svgText(box.querySelector("svg"), fullName()))
      },
        "SVG");
  const dataButton =
      h("button", {
        type: "button",
        class: "small data-download",
        onclick: () => download(fileName(fullName(), "tsv"), "text/tab-separated-values", tsvText(spec.data()))
      },
        "data");
  const note = h("p", {class: "note"});
  const element =
      h("figure", {class: spec.wide ? "wide" : null},
        h("figcaption", {}, heading, h("div", {class: "downloads"}, svgButton, dataButton)), note, box);
  const plot = {
    width: 0,
    redraw(width = plot.width) {
      if (!width) return;
      plot.width = width;
      const height = typeof spec.height === "function" ? spec.height(width) : spec.height;
      const focused = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      const svg = d3.create("svg")
                      .attr("width", width)
                      .attr("height", height)
                      .attr("viewBox", `0 0 ${width} ${height}`)
                      .attr("role", spec.interactive ? "group" : "img")
                      .attr("aria-label", text(spec.label));
      box.replaceChildren(svg.node());
      spec.draw(svg, width, height);
      heading.textContent = text(spec.title);
      note.textContent = text(spec.note);
      note.hidden = note.textContent === "";
      svgButton.setAttribute("aria-label", `Download the picture (SVG): ${fullName()}`);
      dataButton.setAttribute("aria-label", `Download the data (TSV): ${fullName()}`);
      if (focused) {
        const same = Array.from(box.querySelectorAll("[data-key]")).find((item) => item.dataset.key === focused);
        if (same) same.focus();
      }
    },
  };
  box.plot = plot;
  widths.observe(box);
  element.redraw = () => plot.redraw(box.clientWidth || plot.width);
  return element;
}

// ---- the tooltip, for the mouse and for the keyboard

const tooltip = document.getElementById("tooltip");

function showTooltip(lines, x, y) {
  tooltip.replaceChildren(...lines.map((line, i) => h(i === 0 ? "strong" : "span", {}, line)));
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  tooltip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 4))}px`;
  tooltip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
}

function hideTooltip() {
  tooltip.hidden = true;
}

// Lines (the first is a heading) that a selection shows; each of its elements gets them from its datum. What can be
// focused shows them then, too. One listener for all: browsers stop with Tab at every part of a drawing that listens to
// the focus itself.
function withTooltip(selection, lines) {
  return selection.on("mousemove.tip", (d) => showTooltip(lines(d), d3.event.clientX, d3.event.clientY))
      .on("mouseleave.tip", hideTooltip)
      .property("tip", (d) => () => lines(d));
}

addEventListener("focusin", ({target}) => {
  if (!target.tip || !target.matches(":focus-visible")) return;
  const box = target.getBoundingClientRect();
  showTooltip(target.tip(), box.left + box.width / 2, box.top + box.height / 2);
});
addEventListener("focusout", hideTooltip);

// Something that is pressed, with the mouse or Enter and the space bar.
function pressable(selection, label, press, role = "button") {
  return selection.attr("tabindex", 0)
      .attr("role", role)
      .attr("aria-label", label)
      .style("cursor", "pointer")
      .on("click.press", press)
      .on("keydown.press", function(d, i, nodes) {
        if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
        d3.event.preventDefault();
        press.call(this, d, i, nodes);
      });
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTooltip();
});
addEventListener("scroll", hideTooltip, {passive: true, capture: true});
