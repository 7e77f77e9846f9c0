// The dialogs of the page. Those that ask for a choice take a digit for it, Enter or Ctrl+Enter to go on.

import { gettext } from "../words.js";

const one = (selector, root = document) => root.querySelector(selector);

export const openDialog = (name) => one(`dialog[data-dialog="${name}"]`)?.showModal();

const PARK = "park"; // the choice to skip an item for later

let goOn = null;

/** Asks by the dialog of that name; `then(choice, words)` is called when the person goes through with it. */
export function ask(name, then) {
  const form = one(`dialog[data-dialog="${name}"] [data-ask]`);
  goOn = then;
  form.reset();
  requireWords(form);
  openDialog(name);
  (one(":checked", form) ?? one('[type="radio"]', form)).focus();
}

/** Asks why an item is skipped or flagged: a flag is for a researcher to read, so it needs a reason. */
export function askReason(isFlagged, then) {
  one("[data-skip-title]").textContent = isFlagged ? gettext("Flag this item for the researcher") : gettext("Skip this item");
  one("[data-skip-confirm-text]").textContent = isFlagged ? gettext("Flag and go on") : gettext("Skip");
  one("[data-skip-note]").textContent = isFlagged ? gettext("The researcher reads your reason; the item goes to another annotator.") : gettext("You can take the skip back under My work while the item lacks an answer.");
  one('dialog[data-dialog="skip"] [data-ask]').toggleAttribute("data-needs-words", isFlagged);
  one("[data-park]").hidden = isFlagged;
  one("[data-park] input").disabled = isFlagged;
  ask("skip", (choice, words) => then([choice === PARK ? "" : choice, words].filter(Boolean).join(": "), choice === PARK));
}

const choiceOf = (form) => new FormData(form).get("choice");

/** Where none of the listed reasons is chosen, one in words is required if any is. */
function requireWords(form) {
  const words = one("[data-words]", form);
  if (!words) return;
  words.required = "needsWords" in form.dataset && !choiceOf(form);
  one(".optional", form).hidden = words.required;
}

let aboutUnsent = null;

/** A changed answer is not complete, and the person wants to leave it. `ways` has keep() and discard(). */
export function askUnsent(missing, ways) {
  aboutUnsent = ways;
  one("[data-unsent-missing]").textContent = missing;
  openDialog("unsent");
}

document.addEventListener("change", ({ target }) => target.form?.matches("[data-ask]") && requireWords(target.form));
// In words, Enter makes a new line. The button that is pressed keeps its width.
document.addEventListener("focusin", ({ target }) => {
  const key = one("dialog[open] [data-ask] [type=submit] kbd");
  if (key && !target.contains(key)) key.textContent = target.matches("[data-words]") ? "Ctrl+Enter" : "Enter";
});
document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (!form.matches("[data-ask], [data-unsent-form]")) return;
  event.preventDefault();
  form.closest("dialog").close(); // first: it gives the focus back to where it was, and what follows moves it on
  if ("ask" in form.dataset) goOn(choiceOf(form), one("[data-words]", form)?.value.trim() ?? "");
  else aboutUnsent[submitter.value]();
});
document.addEventListener("keydown", (event) => {
  const form = one("dialog[open] [data-ask]");
  if (!form || event.isComposing || event.repeat) return;
  const words = one("[data-words]", form);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.target.matches('[type="radio"]'))) {
    event.preventDefault(); // a key that was typed ahead does nothing by itself
    form.requestSubmit();
  } else if (event.target !== words && /^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const radio = form.querySelectorAll('[type="radio"]')[event.key - 1];
    if (!radio || radio.disabled) return;
    event.preventDefault();
    radio.checked = true;
    requireWords(form);
    (words && !radio.value ? words : radio).focus();
  }
});
