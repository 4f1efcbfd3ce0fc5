// What is wrong with the look of the view that is seen: texts, in the words of a person who would see it.
function faultsOfLayout() {
  const faults = [];
  const room = 2;  // pixels that letters may be over
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    const wide = Array.from(document.querySelectorAll("main *"))
                     .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, svg"));
    faults.push(`the page is ${root.scrollWidth} wide, the window ${innerWidth}: ${
        wide.slice(0, 3).map((e) => `${e.tagName}.${e.className}`).join(" ")}`);
  }
  const described = (text) =>
      `"${text.textContent}" of ${text.closest("figure, .verdict, table, li")?.querySelector("h3, h4")?.textContent}`;
  for (const svg of document.querySelectorAll("main > section:not([hidden]) .plot > svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) faults.push(`an empty plot: ${svg.getAttribute("aria-label")}`);
    const texts = Array.from(svg.querySelectorAll("text")).filter((text) => text.textContent.trim() !== "");
    const boxes = new Map(texts.map((text) => [text, text.getBoundingClientRect()]));
    for (const [text, box] of boxes)
      if (box.left < frame.left - room || box.right > frame.right + room || box.top < frame.top - room ||
          box.bottom > frame.bottom + room)
        faults.push(`${described(text)} is cut off by ${
            Math.round(Math.max(
                frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom))} px`);
    // Words that cross: those of one axis, axes and their names, names of nodes.
    const groups = [
      ...Array.from(svg.querySelectorAll(".axis"), (axis) => axis.querySelectorAll("text")),
      svg.querySelectorAll(".axis-name, .axis text"), svg.querySelectorAll(".node-label"),
      svg.querySelectorAll(".bar text")
    ];
    for (const group of groups) {
      const words = Array.from(group).filter((text) => boxes.has(text));
      words.forEach((a, i) => words.slice(i + 1).forEach((b) => {
        const p = boxes.get(a), q = boxes.get(b);
        // Boxes have room above and below the letters, a fifth of their height each.
        const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) - 0.4 * Math.min(p.height, q.height);
        const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
        if (high > 0 && wide > 0) faults.push(`${described(a)} and "${b.textContent}" are one above the other`);
      }));
    }
  }
  return [...new Set(faults)];
}
