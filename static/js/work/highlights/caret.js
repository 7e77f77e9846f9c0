// A caret in one text: by keys over words, characters, lines and screens, or by a click on the first word and on the last.

import { keyOf } from "../keyboard.js";

/** What scrolls when `element` has to: a box that scrolls by itself, or the page. */
function frameOf(element) {
  for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return document.scrollingElement;
}

/**
 * The keyboard's caret in one text, at `from` or its first word. `act` has add(span), addAs(number, span) (with the
 * label of that number; false where there is none), removeAt(span), leave(), turn(direction) (to the next text; false when there is none),
 * moved(span) and begun() (the first word was clicked); the caller paints.
 * Returns {span, key(event), click(event)}; key says whether it used the event.
 */
export function createCaret(text, from, act) {
  const { element } = text;
  const first = () => text.nextWord(0, () => true);
  const last = () => text.previousWord(text.text.length, () => true);
  let anchor = from ?? first();
  if (!anchor) return null;
  let span = { start: anchor.start, end: anchor.end };
  anchor = { ...span };
  let direction = 1;
  let isBegun = false; // by a click on the first word: the next click is on the last one

  const set = (next, isExtended) => {
    if (!next) return;
    span = { start: next.start, end: next.end };
    if (!isExtended) anchor = { ...span };
    act.moved(span);
  };

  function moveWord(towards) {
    set(towards > 0 ? text.nextWord(span.end, (word) => word.start >= span.end) : text.previousWord(span.start, (word) => word.start < span.start), false);
  }

  function extendWord(towards) {
    if (span.start === anchor.start && span.end === anchor.end) direction = towards;
    const next = { ...span };
    if (direction > 0) {
      const word = towards > 0 ? text.nextWord(span.end, (one) => one.end > span.end) : text.previousWord(span.end, (one) => one.end < span.end);
      if (word) next.end = Math.max(word.end, anchor.end);
    } else {
      const word = towards < 0 ? text.previousWord(span.start, (one) => one.start < span.start) : text.nextWord(span.start, (one) => one.start > span.start);
      if (word) next.start = Math.min(word.start, anchor.start);
    }
    set(next, true);
  }

  function moveCharacter(towards) {
    const start = text.step(span.start, towards);
    const end = text.step(start, 1);
    if (end > start) set(text.trim(start, end), false);
  }

  function extendCharacter(towards) {
    if (span.start === anchor.start && span.end === anchor.end && towards > 0) direction = 1;
    const next = { ...span };
    if (direction > 0) next.end = text.step(span.end, towards);
    else next.start = text.step(span.start, towards);
    if (next.end > next.start) set(next, true);
  }

  /** Where on the screen the caret's moving end is. */
  function place() {
    const marks = text.marks(span.start, span.end);
    const mark = direction > 0 ? marks.at(-1) : marks[0];
    text.bring(mark);
    const boxes = mark?.getClientRects();
    const box = boxes && (direction > 0 ? boxes[boxes.length - 1] : boxes[0]);
    return box && { x: box.left + box.width / 2, y: box.top + box.height / 2, height: box.height };
  }

  /** The offset nearest to a place of the window; `isOn`: of the character that is there. */
  function offsetAt(x, y, isOn = false) {
    const found = document.caretPositionFromPoint?.(x, y);
    const range = found ? null : document.caretRangeFromPoint?.(x, y);
    const node = found?.offsetNode ?? range?.startContainer;
    if (!node || !element.contains(node)) return null;
    const offset = found?.offset ?? range.startOffset;
    return text.offsetOf(node, isOn && isAfter(node, offset, x, y) ? offset - 1 : offset);
  }

  /** Whether it is the character before an offset of a node that is at a place of the window. */
  function isAfter(node, offset, x, y) {
    if (node.nodeType !== Node.TEXT_NODE || offset === 0) return false;
    const before = document.createRange();
    before.setStart(node, offset - 1);
    before.setEnd(node, offset);
    return [...before.getClientRects()].some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom);
  }

  function go(hit, isExtended) {
    const word = text.nextWord(hit, (one) => one.end > hit) ?? last();
    if (!isExtended) return set(word, false);
    direction = word.start >= anchor.start ? 1 : -1;
    return set({ start: Math.min(word.start, anchor.start), end: Math.max(word.end, anchor.end) }, true);
  }

  function line(towards, isExtended) {
    const from = place();
    if (!from) return;
    const height = parseFloat(getComputedStyle(element).lineHeight) || from.height * 1.5;
    const hit = offsetAt(from.x, from.y + towards * height);
    if (hit !== null) go(hit, isExtended);
  }

  function screenful(towards, isExtended) {
    const from = place();
    const frame = frameOf(element);
    const before = frame.scrollTop;
    frame.scrollBy({ top: towards * frame.clientHeight * 0.7, behavior: "instant" });
    // Nothing of the text below that place, or nothing left to scroll: its end is meant.
    const hit = from && frame.scrollTop !== before ? offsetAt(from.x, from.y) : null;
    if (hit !== null) go(hit, isExtended);
    else go(towards > 0 ? last().start : 0, isExtended);
  }

  function click({ clientX, clientY }) {
    const hit = offsetAt(clientX, clientY, true);
    if (hit === null) return;
    go(hit, isBegun);
    isBegun = !isBegun;
    if (isBegun) return act.begun();
    act.add({ ...span });
    return act.leave();
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey) return false;
    isBegun = false;
    if (/^[1-9]$/.test(event.key) && act.addAs(Number(event.key), { ...span })) {
      set(span, false);
      return true;
    }
    const digit = event.shiftKey && !event.altKey && /^Digit([1-9])$/.exec(event.code);
    if (digit && act.grade(Number(digit[1]), { ...span })) {
      set(span, false);
      return true;
    }
    if ((event.key === "[" || event.key === "]") && act.turnLabel(event.key === "]" ? 1 : -1)) return true;
    const towards = (event.key === "ArrowRight") !== (getComputedStyle(element).direction === "rtl") ? 1 : -1;
    const [byCharacter, isExtended] = [event.altKey, event.shiftKey];
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight":
        if (byCharacter) (isExtended ? extendCharacter : moveCharacter)(towards);
        else (isExtended ? extendWord : moveWord)(towards);
        return true;
      case "ArrowUp":
      case "ArrowDown":
        line(event.key === "ArrowDown" ? 1 : -1, isExtended);
        return true;
      case "PageUp":
      case "PageDown":
        screenful(event.key === "PageDown" ? 1 : -1, isExtended);
        return true;
      case "Home":
      case "End":
        set(event.key === "Home" ? first() : last(), false);
        return true;
      case "Tab":
        return act.turn(event.shiftKey ? -1 : 1);
      case "Enter":
      case " ":
        if (!event.repeat) act.add({ ...span });
        set(span, false);
        return true;
      case "Delete":
      case "Backspace":
        if (!event.repeat) act.removeAt({ ...span });
        return true;
      default:
        if (event.key !== "Escape" && event.key !== keyOf("highlight")) return false;
        act.leave();
        return true;
    }
  }

  return { text, key, click, get span() { return span; } };
}

/** Clicks go to the caret that `caretNow()` gives, which goes to the text that they are in: one of `textsNow()`. */
export function listenToClicks(stage, caretNow, textsNow, enter) {
  stage.addEventListener("click", (event) => {
    if (!caretNow() || event.target.closest("a, button, summary") || !document.getSelection().isCollapsed) return;
    const text = textsNow().find((one) => one.element.contains(event.target));
    if (text && text !== caretNow().text) enter(text, null);
    if (text) caretNow().click(event);
  });
}
