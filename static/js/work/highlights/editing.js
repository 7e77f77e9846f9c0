// Changing a highlight that is there: a click on it shows its ends, which can be dragged or moved by the arrow keys, its
// labels, and a button that removes it.

import { listenToFingers } from "./fingers.js";
import { gettext } from "../../words.js";

const make = (tag, more, ...content) => {
  const element = Object.assign(document.createElement(tag), more);
  element.append(...content);
  return element;
};

/** `page` has announce(text) and showStatus(text, kind); `isSnapping()`: ends lie at words unless a key says otherwise. */
export function createEditing(stage, itemNow, page, isSnapping) {
  let open = null; // {item, group, span, text}
  const ends = ["start", "end"].map((end) => {
    const handle = make("button", { type: "button", className: "span-end" });
    handle.setAttribute("aria-label", end === "start" ? gettext("Beginning of the highlight: arrow keys move it") : gettext("End of the highlight: arrow keys move it"));
    handle.dataset.ownArrows = "";
    handle.dataset.end = end;
    return handle;
  });
  const bar = make("div", { className: "span-bar" });
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", gettext("Highlight"));

  function close() {
    bar.querySelector(":focus")?.blur(); // the reason that is being written counts
    for (const handle of ends) letGo(handle);
    open = null;
    for (const element of [...ends, bar]) element.remove();
  }

  /** The end of a drag, also of one that a key or the next item cuts short. */
  function letGo(handle) {
    if (handle.onpointermove) open?.item.setCaret(null);
    handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
    handle.classList.remove("is-dragged");
  }

  /** Whether the highlight is there: undo and the list of highlights change them too. */
  const isThere = () => open !== null && itemNow() === open.item && open.item.spansOf(open.group).includes(open.span);

  function put(element, x, y) {
    if (!element.isConnected) document.getElementById("work").append(element);
    element.style.left = `${Math.max(4, Math.min(x + scrollX, scrollX + document.documentElement.clientWidth - element.offsetWidth - 4))}px`;
    element.style.top = `${y + scrollY}px`;
  }

  /** At the ends of the marks; it is closed where they are gone. */
  function place() {
    const marks = isThere() ? open.text.marks(open.span.start, open.span.end) : [];
    if (!marks.length) return close();
    const [first, last] = [marks[0].getClientRects()[0], [...marks.at(-1).getClientRects()].at(-1)];
    if (!first || !last) return close();
    put(ends[0], first.left - 8, first.bottom - 4);
    put(ends[1], last.right - 8, last.bottom - 4);
    return put(bar, first.left, last.bottom + 20);
  }

  function show(item, group, span) {
    const text = item.texts.get(span.field);
    open = { item, group, span, text };
    const choices = (known, part) => known.map(({ value, title }) => {
      const button = make("button", { type: "button", className: "small", textContent: title });
      button.setAttribute("aria-pressed", String(value === span[part]));
      button.addEventListener("click", () => change({ [part]: value }));
      return button;
    });
    const grades = make("div", { className: "severities" }, ...choices(item.severities(group), "severity"));
    grades.setAttribute("role", "group");
    grades.setAttribute("aria-label", gettext("Severity"));
    const reason = make("input", { type: "text", maxLength: 2000, value: span.reason ?? "", placeholder: gettext("Reason"), dir: "auto" });
    reason.setAttribute("aria-label", gettext("Reason for the highlight"));
    reason.addEventListener("change", () => change({ reason: reason.value.trim() }));
    const remove = make("button", { type: "button", className: "small", textContent: gettext("Remove") });
    remove.addEventListener("click", () => {
      if (isThere()) item.removeSpan(group, open.span);
      close();
      page.announce(gettext("Highlight removed"));
      return group.box.focus({ preventScroll: true });
    });
    const parts = [item.severities(group).length && grades, group.dimension.spans.takes_reasons && reason, remove];
    bar.replaceChildren(...choices(item.ownLabels(group), "label"), ...parts.filter(Boolean));
    place();
  }

  function change(more) {
    if (!isThere()) return close();
    const { item, group, span } = open;
    const changed = item.changeSpan(group, span, more);
    if (changed.why) page.showStatus(changed.why, "missing");
    else page.announce(gettext("Highlighted: {quote}", { quote: open.text.text.slice(changed.span.start, changed.span.end).slice(0, 200) }));
    return show(item, group, changed.span);
  }

  /** One end at an offset, at least a character from the other. */
  function withEnd(end, offset, byCharacter) {
    const { span, text } = open;
    const next = end === "start" ? { start: Math.min(offset, text.step(span.end, -1)), end: span.end } : { start: span.start, end: Math.max(offset, text.step(span.start, 1)) };
    const snapped = text.snap(next.start, next.end, byCharacter || !isSnapping());
    return snapped && { ...next, [end]: snapped[end] };
  }

  /** Where an arrow key leads in the text: forwards 1, backwards -1; NaN for another key. */
  const directionOf = ({ key }) => ({ ArrowRight: 1, ArrowLeft: -1 })[key] * (getComputedStyle(open.text.element).direction === "rtl" ? -1 : 1);

  /** By a word, or by a character. */
  function move(end, direction, byCharacter) {
    const { span, text } = open;
    const at = span[end];
    let next;
    if (byCharacter) next = text.step(at, direction);
    else if (end === "end") next = (direction > 0 ? text.nextWord(at, (word) => word.end > at) : text.previousWord(at, (word) => word.end < at))?.end;
    else next = (direction > 0 ? text.nextWord(at, (word) => word.start > at) : text.previousWord(at, (word) => word.start < at))?.start;
    if (next === undefined || (end === "end" ? next <= span.start : next >= span.end)) return;
    change({ [end]: next });
  }

  function offsetAt({ clientX, clientY }) {
    const found = document.caretPositionFromPoint?.(clientX, clientY);
    const range = found ? null : document.caretRangeFromPoint?.(clientX, clientY);
    const node = found?.offsetNode ?? range?.startContainer;
    return node && open.text.element.contains(node) ? open.text.offsetOf(node, found?.offset ?? range.startOffset) : null;
  }

  for (const handle of ends) {
    const { end } = handle.dataset;
    handle.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      event.stopPropagation();
      handle.setPointerCapture(event.pointerId);
      let wanted = null;
      handle.onpointermove = (move) => {
        handle.classList.add("is-dragged"); // what is under it is meant
        const offset = offsetAt(move);
        wanted = (offset !== null && withEnd(end, offset, move.shiftKey || move.altKey)) || wanted;
        if (wanted) open.item.setCaret({ field: open.span.field, ...wanted });
      };
      handle.onpointerup = handle.onpointercancel = () => {
        letGo(handle);
        if (wanted) change(wanted);
      };
    });
    handle.addEventListener("keydown", (event) => {
      const direction = directionOf(event);
      if (!direction || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      move(end, direction, event.altKey);
      handle.focus();
    });
  }

  /** The shortest highlight at an offset of a text. */
  function spanAt(item, field, offset) {
    let found = null;
    for (const group of item.groups) {
      for (const span of item.spansOf(group)) {
        const isHere = span.field === field && span.start <= offset && offset < span.end && !item.isWhole(group, span) && (group.unit === item.spanUnit() || item.payload.has_unit_colours);
        if (isHere && (!found || span.end - span.start < found.span.end - found.span.start)) found = { group, span };
      }
    }
    return found;
  }

  stage.addEventListener("click", (event) => {
    const mark = event.target.closest(".has-caret") ? null : event.target.closest("mark.chosen");
    const item = itemNow();
    const selection = document.getSelection();
    if (!mark || !item || item.stage === "waiting" || !selection.isCollapsed) return close();
    const { field } = mark.closest("[data-field]").dataset;
    const at = spanAt(item, field, item.texts.get(field).offsetOf(mark, 0));
    return at ? show(item, at.group, at.span) : close();
  });
  document.addEventListener("pointerdown", (event) => event.target.closest(".span-bar, .span-end") || stage.contains(event.target) || close());
  document.addEventListener("keydown", (event) => {
    if (!open) return undefined;
    if (event.key === "Escape" || !isThere()) return close();
    const direction = directionOf(event);
    if (!direction || !event.shiftKey || event.defaultPrevented || event.target.closest("[data-own-arrows], .has-caret, input, textarea")) return undefined;
    event.preventDefault();
    return move("end", direction, event.altKey);
  }, true);
  for (const what of ["scroll", "resize"]) window.addEventListener(what, () => open && place(), { capture: true, passive: true });
  new MutationObserver(close).observe(stage, { childList: true });

  listenToFingers(itemNow, put);

  /** Shows what a new highlight may still need: how grave the error is, and why it is one. */
  function offer(field, start) {
    const item = itemNow();
    const at = spanAt(item, field, start);
    if (at && item.severities(at.group).length) show(item, at.group, at.span);
  }

  return { close, offer, refresh: () => open && place() };
}
