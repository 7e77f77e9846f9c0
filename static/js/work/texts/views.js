// Whether texts with a format are shown as they look or as their source: one choice for all of them, kept in the browser.

import { selected } from "../highlights/selection.js";
import { gettext } from "../../words.js";

const NAME = "source-view";

/** `itemNow()` is on the screen, in `stage`. Returns what changes the view. */
export function createViews(stage, itemNow, settings, announce) {
  const isSource = () => settings.get(NAME) === true;

  function show() {
    for (const button of stage.querySelectorAll('[data-do="source"]')) button.setAttribute("aria-pressed", String(isSource()));
    for (const text of itemNow()?.texts.values() ?? []) text.show(isSource() ? "source" : "rendered");
  }

  new MutationObserver(show).observe(stage, { childList: true });
  show();

  // What is copied is what is stored.
  document.addEventListener("copy", (event) => {
    const texts = [...(itemNow()?.texts.values() ?? [])].filter((text) => text.isRendered());
    const found = event.target.closest?.("input, textarea") ? null : selected(texts, true);
    if (!found || !found.text.element.contains(document.getSelection().anchorNode) || !found.text.element.contains(document.getSelection().focusNode)) return;
    event.clipboardData.setData("text/plain", found.text.text.slice(found.start, found.end));
    event.preventDefault();
  });

  return function toggle() {
    if (![...(itemNow()?.texts.values() ?? [])].some((text) => text.isFormatted)) return;
    settings.set(NAME, !isSource());
    show();
    announce(isSource() ? gettext("The source is shown") : gettext("Texts are shown as they look"));
  };
}
