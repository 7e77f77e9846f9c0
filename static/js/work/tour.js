// A tour of the page in a minute, on a made-up item: offered once, with the first guidelines, and found again with the
// keys.

import { announce, one } from "./shell.js";
import { gettext } from "../words.js";

/** `settings` remembers that the person had it. Returns start(). */
export function createTour(settings, work) {
  const dialog = one('dialog[data-dialog="tour"]');
  const steps = [...dialog.querySelectorAll("[data-tour-step]")];
  const choices = [...dialog.querySelectorAll('[name="tour-choice"]')];
  const status = one("[data-tour-status]", dialog);
  let at = 0;

  function show(step) {
    at = step;
    steps.forEach((element, place) => (element.hidden = place !== at));
    status.textContent = gettext("Step {n} of {total}", { n: at + 1, total: steps.length });
    one("[data-tour-next-text]", dialog).textContent = at === steps.length - 1 ? gettext("Start") : steps[at].dataset.tourStep === "submit" ? gettext("Submit") : gettext("Next");
    announce(steps[at].textContent.trim());
  }

  /** The choice is made with its key, as on an item: the step is not left without it. */
  function next() {
    const needs = steps[at].dataset.tourStep === "choose" && !choices.some((choice) => choice.checked);
    if (needs) status.textContent = gettext("Press 1 or 2, or click on a label");
    else if (at === steps.length - 1) dialog.close();
    else show(at + 1);
  }

  const hideOffer = () => work.toggleAttribute("data-tour-seen", Boolean(settings.get("tour-seen")));

  one("[data-tour-next]", dialog).addEventListener("click", next);
  for (const choice of choices) choice.addEventListener("click", () => steps[at].dataset.tourStep === "choose" && next());
  dialog.addEventListener("close", () => {
    settings.set("tour-seen", true);
    hideOffer();
  });
  dialog.addEventListener("keydown", (event) => {
    const choice = choices[Number(event.key) - 1];
    if (!choice || steps[at].dataset.tourStep !== "choose" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choice.click();
    one("[data-tour-next]", dialog).focus();
  });
  hideOffer();

  return function start() {
    one('dialog[data-dialog="help"]').close();
    for (const choice of choices) choice.checked = false;
    show(0);
    dialog.showModal();
    one("[data-tour-next]", dialog).focus();
  };
}
