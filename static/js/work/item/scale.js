// A number on a scale with anchors: a slider, which has no value until one is chosen, and what its numbers mean.

import { gettext } from "../../words.js";

/** Each anchor stands below its number. */
export function placeAnchors(node) {
  for (const slider of node.querySelectorAll('[data-number][type="range"]')) {
    const [least, most] = [Number(slider.min), Number(slider.max)];
    for (const anchor of slider.parentElement.querySelectorAll("[data-at]")) {
      anchor.style.setProperty("--at", (Number(anchor.dataset.at) - least) / (most - least));
    }
  }
}

/** What the slider says of the number; of none, that there is none. */
export function showOnScale(slider, { number }, label) {
  slider.toggleAttribute("data-empty", label === undefined);
  const anchor = number.anchors.find(({ at }) => at === Number(label));
  const words = [label, number.unit, anchor && `(${anchor.title})`].filter(Boolean).join(" ");
  slider.setAttribute("aria-valuetext", label === undefined ? gettext("no number yet") : words);
}
