// The guidelines next to the item: open at the first start, as wide as the person made them, with a search. Where the
// window is too narrow for that, they are a dialog.

import { announce, one } from "./shell.js";
import { gettext } from "../words.js";

const WIDE = "(min-width: 80.01rem)";
const [LEAST, USUAL, MOST, STEP] = [240, 352, 720, 16]; // pixels

/** `settings` remembers what the person chose; `left()` gives the focus back to the item. */
export function createPane(settings, left) {
  const pane = one("[data-pane]");
  const [body, search, found, grip] = ["body", "search", "found", "grip"].map((part) => one(`[data-pane-${part}]`, pane));
  const text = one("[data-guidelines-known]");
  const wide = matchMedia(WIDE);
  let marks = [];
  let at = -1;

  const isKnown = () => text.childNodes.length > 0 && !one('[data-do="guidelines"]').hidden;

  function fill() {
    body.replaceChildren(...[...text.childNodes].map((node) => node.cloneNode(true)));
    mark();
  }

  // ---- search ----

  function mark() {
    const words = search.value.trim().toLowerCase();
    [marks, at] = [[], -1];
    found.textContent = "";
    if (!words) return;
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    for (let node of nodes) {
      for (let place = node.data.toLowerCase().indexOf(words); place >= 0; place = node.data.toLowerCase().indexOf(words)) {
        const hit = node.splitText(place);
        node = hit.splitText(words.length);
        const around = document.createElement("mark");
        hit.replaceWith(around);
        around.append(hit);
        marks.push(around);
      }
    }
    next(1);
  }

  function next(step) {
    marks[at]?.classList.remove("is-current");
    at = marks.length ? (at + step + marks.length) % marks.length : -1;
    marks[at]?.classList.add("is-current");
    marks[at]?.scrollIntoView({ block: "nearest" });
    found.textContent = marks.length ? gettext("{n} of {total}", { n: at + 1, total: marks.length }) : gettext("Not found");
  }

  search.addEventListener("input", fill);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    next(event.shiftKey ? -1 : 1);
  });

  // ---- width ----

  function setWidth(width) {
    const chosen = Math.round(Math.min(Math.max(width, LEAST), MOST, innerWidth / 2));
    document.getElementById("work").style.setProperty("--pane", `${chosen}px`);
    grip.setAttribute("aria-valuenow", chosen);
    return chosen;
  }

  const widthNow = () => pane.getBoundingClientRect().width;
  const keepWidth = () => settings.set("pane-width", widthNow());
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    const [from, width] = [event.clientX, widthNow()];
    const way = getComputedStyle(pane).direction === "rtl" ? -1 : 1;
    grip.onpointermove = (move) => setWidth(width + way * (from - move.clientX));
    grip.onpointerup = grip.onpointercancel = () => {
      grip.onpointermove = grip.onpointerup = grip.onpointercancel = null;
      keepWidth();
    };
  });
  grip.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    setWidth(widthNow() + step);
    keepWidth();
  });

  // ---- opening and closing ----

  function show() {
    const isOpen = wide.matches && isKnown() && settings.get("pane-open") !== false;
    if (isOpen && pane.hidden) {
      fill();
      setWidth(settings.get("pane-width") ?? USUAL);
    }
    pane.hidden = !isOpen;
    one('[data-do="guidelines"]').setAttribute("aria-expanded", isOpen);
  }

  function setOpen(isOpen) {
    settings.set("pane-open", isOpen);
    show();
    announce(isOpen ? gettext("Guidelines are open next to the item") : gettext("Guidelines are closed"));
    if (!isOpen) left();
  }

  one("[data-pane-close]", pane).addEventListener("click", () => setOpen(false));
  wide.addEventListener("change", show);
  new MutationObserver(() => {
    if (!pane.hidden) fill();
    show();
  }).observe(text, { childList: true });
  show();

  return {
    fits: () => wide.matches,
    toggle: () => setOpen(pane.hidden),
  };
}
