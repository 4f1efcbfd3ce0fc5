// ---- main.js: unpacks the data, makes the views when they are first looked at, follows the address.

let report = null;

async function unpack() {
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser is too old for the report. Use a version from 2023 or later.");
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// [address, name, whether there is anything to see, what makes its elements]
function viewsOf(data) {
  if (data.kind === "compare")
    return [
      ["compare", "Comparison", true, compareView],
      ["matches", `${upper(data.runs[0].components.word)}s`, data.matches.length > 0, matchesView],
      ["provenance", "Provenance", true, compareProvenanceView]
    ];
  return [
    ["overview", "Overview", true, overviewView], ["components", "Components", data.components, componentsView],
    ["cards", "Cards", data.components, cardsView], ["columns", "Columns", data.columns, columnsView],
    ["entities", "Entities", data.entities, entitiesView],
    ["diagnostics", "Diagnostics", data.diagnostics, diagnosticsView], ["fit", "Fit", true, fitView],
    ["networks", "Networks", data.networks && data.networks.length > 0, networksView],
    ["provenance", "Provenance", true, provenanceView]
  ];
}

let views = [];

// #components/12 is the view and what it is to show.
function address() {
  const [view, ...rest] = location.hash.slice(1).split("/").map(decodeAddress);
  return {view: views.some((v) => v.address === view) ? view : views[0].address, rest};
}

function decodeAddress(part) {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    return part;
  }
}

function goTo(...parts) {
  location.hash = parts.map((part) => encodeURIComponent(part)).join("/");
}

// The same without a step for the browser's "back".
function replaceAddress(...parts) {
  history.replaceState(null, "", `#${parts.map((part) => encodeURIComponent(part)).join("/")}`);
  follow();
}

function open(view) {
  if (!view.made) {
    view.made = view.make(view.section) || {};
    view.section.setAttribute("aria-busy", "false");
  }
}

function follow() {
  const {view, rest} = address();
  hideTooltip();
  for (const v of views) {
    v.section.hidden = v.address !== view;
    if (v.address === view)
      v.link.setAttribute("aria-current", "page");
    else
      v.link.removeAttribute("aria-current");
  }
  const current = views.find((v) => v.address === view);
  open(current);
  current.link.scrollIntoView({block: "nearest", inline: "nearest"});
  if (current.made.show) current.made.show(rest);
  document.title = `${current.name} · ${report.title} · ztp report`;
}

// All of it on paper, whatever was looked at. Plots have no width before their view is seen.
function openAll() {
  for (const view of views) {
    view.section.hidden = false;
    open(view);
    if (view.made.all) view.made.all();
    if (view.made.show && view.address !== address().view) view.made.show([]);
  }
  for (const box of document.querySelectorAll(".plot"))
    if (box.clientWidth > 0 && box.clientWidth !== box.plot.width) box.plot.redraw(box.clientWidth);
}

async function start() {
  setUpTheme(document.getElementById("theme"));
  try {
    report = await unpack();
  } catch (error) {
    document.getElementById("loading").textContent = `The report cannot be read. ${error.message}`;
    throw error;
  }
  document.getElementById("title").textContent = report.title;
  const main = document.getElementById("main");
  const list = document.getElementById("views");
  for (const [id, name, there, make] of viewsOf(report)) {
    if (!there) continue;
    const link = h("a", {href: `#${id}`}, name);
    const section =
        h("section", {id: `view-${id}`, "aria-label": name, hidden: true}, h("h2", {class: "view-name"}, name));
    list.append(h("li", {}, link));
    main.append(section);
    views.push({address: id, name, make, link, section, made: null});
  }
  document.getElementById("loading").remove();
  document.getElementById("footer").append(`Made by ztp ${report.made.version}, ${
      report.made.time.slice(0, 10)}. Plots: D3 ${d3.version}. This file fetches nothing from anywhere.`);
  addEventListener("hashchange", () => {
    const before = views.find((v) => !v.section.hidden);
    follow();
    const now = views.find((v) => !v.section.hidden);
    if (now === before) return;
    scrollTo(0, 0);
    // What had the focus is not seen any more.
    if (document.activeElement === document.body || document.activeElement.closest("[hidden]"))
      main.focus({preventScroll: true});
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("beforeprint", openAll);
  addEventListener("afterprint", follow);
  follow();
  document.documentElement.dataset.ready = "yes";
}

start();
