// The colour scheme: follows the system until one is chosen; the choice is kept in this browser.
// Loaded in <head> without defer, so that no page flashes in the wrong colours.
(() => {
  const KEY = "assay:theme";
  const CHOICES = ["system", "light", "dark"];
  const stored = () => {
    try {
      return localStorage.getItem(KEY) || "system";
    } catch {
      return "system"; // storage may be forbidden
    }
  };

  const gettext = (text) => JSON.parse(document.getElementById("catalogue")?.textContent ?? "{}")[text] ?? text;
  const titles = { system: () => gettext("Colours: system"), light: () => gettext("Colours: light"), dark: () => gettext("Colours: dark") };

  function apply(choice) {
    if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.title = (titles[choice] ?? titles.system)();
      button.setAttribute("aria-label", `${button.title}. ${gettext("Change")}`);
      button.dataset.choice = choice;
    }
  }

  apply(stored());
  document.addEventListener("DOMContentLoaded", () => apply(stored()));
  window.addEventListener("storage", (event) => event.key === KEY && apply(stored()));
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-theme-toggle]")) return;
    const next = CHOICES[(CHOICES.indexOf(stored()) + 1) % CHOICES.length];
    try {
      localStorage.setItem(KEY, next);
    } catch {
      /* the choice then lasts until the next page */
    }
    apply(next);
  });
})();
