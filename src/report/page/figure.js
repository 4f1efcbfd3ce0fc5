// ---- figure.js: a plot with its title, its words for those who cannot see it, and its downloads.

// The properties that make a plot look as it does; written into it for a file of its own.
const svgStyles = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor"
];

function svgText(svg) {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of svgStyles) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
    element.removeAttribute("tabindex");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("style", `background:${getComputedStyle(document.documentElement).backgroundColor}`);
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
    if (plot && width > 0 && width !== plot.width) plot.redraw(width);
  }
});

// {title, label, height, draw(svg, width, height), data(), note, level, small}
//   label    what the plot shows, in a sentence, for screen readers: a text or a function
//   height   a number, or a function of the width
//   draw     fills a d3 selection of an empty svg
//   data     rows for the download, the first with the names
// Returns the element; its redraw() draws again, when what it shows has changed.
function figure(spec) {
  const box = h("div", {class: "plot"});
  const name = () => (typeof spec.title === "function" ? spec.title() : spec.title);
  const heading = h(spec.level || "h3", {}, name());
  const buttons =
      h("div", {class: "downloads"},
        h("button", {
          type: "button",
          class: "small svg-download",
          onclick: () => download(fileName(name(), "svg"), "image/svg+xml", svgText(box.querySelector("svg")))
        },
          "SVG"),
        h("button", {
          type: "button",
          class: "small data-download",
          onclick: () => download(fileName(name(), "tsv"), "text/tab-separated-values", tsvText(spec.data()))
        },
          "data"));
  const noteBox = h("p", {class: "note"});
  const element =
      h("figure",
        {class: spec.small ? "small" :
             spec.wide     ? "wide" :
                             null},
        h("figcaption", {}, heading, buttons), noteBox, box);
  for (const button of buttons.children)
    button.setAttribute(
        "aria-label", `Download ${button.textContent === "SVG" ? "the picture (SVG)" : "the data (TSV)"}: ${name()}`);
  const plot = {
    width: 0,
    redraw(width = plot.width) {
      if (!width) return;
      plot.width = width;
      const height = typeof spec.height === "function" ? spec.height(width) : spec.height;
      const label = typeof spec.label === "function" ? spec.label() : spec.label;
      const focused = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      const svg = d3.create("svg")
                      .attr("width", width)
                      .attr("height", height)
                      .attr("viewBox", `0 0 ${width} ${height}`)
                      .attr("role", spec.interactive ? "group" : "img")
                      .attr("aria-label", label);
      box.replaceChildren(svg.node());
      spec.draw(svg, width, height);
      heading.textContent = name();
      const note = typeof spec.note === "function" ? spec.note() : spec.note;
      noteBox.textContent = note || "";
      noteBox.hidden = !note;
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

// Lines (the first is a heading) that a selection shows; each of its elements gets them from its datum. What can be focused shows them then, too.
// One listener for all: browsers stop with Tab at every part of a drawing that listens to the focus itself.
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
