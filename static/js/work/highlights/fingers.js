// A finger that selects text gets a button there, which highlights it.

import { selected } from "./selection.js";
import { gettext } from "../../words.js";

/** `put(element, x, y)` shows the button at a place of the window. */
export function listenToFingers(itemNow, put) {
  const add = Object.assign(document.createElement("button"), { type: "button", className: "span-bar", textContent: gettext("Highlight") });
  add.dataset.do = "highlight";
  let isTouch = false;
  document.addEventListener("pointerdown", ({ pointerType }) => (isTouch = pointerType !== "mouse"), true);
  document.addEventListener("selectionchange", () => {
    const item = itemNow();
    const found = isTouch && item && item.stage !== "waiting" ? selected(item.spanTexts(), false) : null;
    if (!found) return add.remove();
    const box = [...document.getSelection().getRangeAt(0).getClientRects()].at(-1);
    return box && put(add, box.left, box.bottom + 24);
  });
  add.addEventListener("click", () => setTimeout(() => add.remove(), 0));
  for (const press of ["pointerdown", "mousedown"]) add.addEventListener(press, (event) => event.preventDefault()); // the selection stays
}
