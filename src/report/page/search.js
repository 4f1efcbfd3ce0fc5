// ---- search.js: entities are found by their names.

const mostHits = 12;

// Letters without case and accents: "cote d'ivoire" finds "Côte d'Ivoire".
function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

// What a text finds: names that begin with it, then words that do, then names that have it anywhere; those with most
// ones first.
const plainLabels = [];
function search(text, modes) {
  const wanted = plain(text.trim());
  if (wanted === "") return [];
  const hits = [];
  modes.forEach((k) => {
    plainLabels[k] = plainLabels[k] || report.modes[k].labels.map(plain);
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
// id: of the field; that of the list is made from it. modes: whose entities are searched.
function searchField(id, choose, modes = d3.range(report.modes.length)) {
  let hits = [], active = -1;
  const list = h("ul", {id: `${id}-hits`, class: "hits", role: "listbox", "aria-label": "Entities", hidden: true});
  const status = h("p", {class: "hint", role: "status"});
  const input = h("input", {
    id,
    class: "search-input",
    type: "search",
    role: "combobox",
    "aria-controls": `${id}-hits`,
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    autocomplete: "off",
    placeholder: `a name: ${modes.map((k) => report.modes[k].name).join(", ")}`,
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
    const all = search(input.value, modes);
    hits = all.slice(0, mostHits);
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...hits.map(
        (hit, i) =>
            h("li", {
              id: `${id}-hit-${i}`,
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
        all.length === 0                           ? "No name matches." :
        all.length > hits.length                   ? `${count(all.length)} names; the first ${hits.length} are shown.` :
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
    input.setAttribute("aria-activedescendant", `${id}-hit-${active}`);
    return null;
  }
  return h(
      "div", {class: "search"}, labelFor(id, "Find an entity"), h("div", {class: "combobox"}, input, list), status);
}
