// ---- color.js: light and dark. Colours are variables of style.css, so that a change of theme redraws nothing. They
// are those of Okabe and Ito, which people with any colour vision can tell apart; chains also differ in their dashes.

const chainColors = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)"];
const chainDashes = [null, "6 3", "2 2", "8 2 2 2"];

function chainColor(chain) {
  return chainColors[chain % chainColors.length];
}

function chainDash(chain) {
  return chainDashes[(chain + Math.floor(chain / chainColors.length)) % chainDashes.length];
}

// The button at the top: as the system, light, dark. Where nothing can be kept, as in a private window, it works all
// the same.
function setUpTheme(button) {
  const names = {auto: "◐ auto", light: "☀ light", dark: "☾ dark"};
  const order = Object.keys(names);
  let chosen = "auto";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    document.documentElement.dataset.theme = chosen;
    document.documentElement.dataset.colors = chosen === "auto" ? (system.matches ? "dark" : "light") : chosen;
    button.textContent = names[chosen];
    button.setAttribute("aria-label", `Colours: ${chosen}. Press to change.`);
  };
  try {
    chosen = order.includes(localStorage.getItem("ztp-theme")) ? localStorage.getItem("ztp-theme") : "auto";
  } catch (error) { /* not kept */
  }
  system.addEventListener("change", show);
  button.addEventListener("click", () => {
    chosen = order[(order.indexOf(chosen) + 1) % order.length];
    try {
      localStorage.setItem("ztp-theme", chosen);
    } catch (error) { /* not kept */
    }
    show();
  });
  show();
}
