// Places in a text and highlights: painting them, by the mouse's selection, by a caret for the keyboard.
// The browser counts UTF-16 units, the server counts code points; nothing here splits a surrogate pair or a grapheme
// (a letter with its combining marks, a family emoji). The text content of an element is never changed, only divided.

const isHigh = (unit) => unit >= 0xd800 && unit <= 0xdbff;

/** Code points before the UTF-16 offset. */
export function toCodePoints(text, offset) {
  let count = 0;
  for (let i = 0; i < offset; i += 1) {
    if (isHigh(text.charCodeAt(i)) && i + 1 < text.length) i += 1;
    count += 1;
  }
  return count;
}

/** The UTF-16 offset of a code point offset. */
export function toUtf16(text, points) {
  let i = 0;
  for (let count = 0; count < points && i < text.length; count += 1) i += isHigh(text.charCodeAt(i)) ? 2 : 1;
  return Math.min(i, text.length);
}

function segment(text, granularity) {
  if (typeof Intl !== "undefined" && Intl.Segmenter) {
    const found = [];
    for (const part of new Intl.Segmenter(undefined, { granularity }).segment(text)) {
      found.push({ start: part.index, end: part.index + part.segment.length, word: part.isWordLike ?? true });
    }
    return found;
  }
  const pattern = granularity === "word" ? /[\p{L}\p{M}\p{N}_'’]+|\P{M}\p{M}*/gu : /\P{M}\p{M}*|\p{M}+/gu;
  return [...text.matchAll(pattern)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    word: /[\p{L}\p{N}]/u.test(match[0]),
  }));
}

// Texts are few and long, and every key press asks again.
const kept = { word: new Map(), grapheme: new Map() };

function parts(text, granularity) {
  const cache = kept[granularity];
  if (!cache.has(text)) {
    if (cache.size > 20) cache.clear();
    cache.set(text, segment(text, granularity));
  }
  return cache.get(text);
}

/** Index of the part that contains `offset` (the last one for the end of the text). */
function find(list, offset) {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words and, between them, stretches without letters: what the caret stops at are the words. */
const words = (text) => parts(text, "word").filter((part) => part.word);

/** The grapheme boundary before (`step` -1) or after (1) an offset. */
function step(text, offset, direction) {
  const list = parts(text, "grapheme");
  if (!list.length) return 0;
  if (direction > 0) return offset >= text.length ? text.length : list[find(list, offset)].end;
  return offset <= 0 ? 0 : list[find(list, offset - 1)].start;
}

/**
 * Widen [start, end) to whole words, or only to whole graphemes, and drop white space at its ends.
 * Returns null when nothing but white space is left.
 */
function snap(text, start, end, byCharacter = false) {
  while (start < end && /\s/u.test(text[start])) start += 1;
  while (end > start && /\s/u.test(text[end - 1])) end -= 1;
  if (start >= end) return null;
  for (const granularity of byCharacter ? ["grapheme"] : ["word", "grapheme"]) {
    const list = parts(text, granularity);
    const first = list[find(list, start)];
    const last = list[find(list, end - 1)];
    // Punctuation is kept only as far as it was selected.
    if (granularity === "grapheme" || first.word) start = first.start;
    if (granularity === "grapheme" || last.word) end = last.end;
  }
  return { start, end };
}

/**
 * Divide the text of `element` into <mark>s. `layers` are {start, end, kind}; where several "chosen" ones overlap, the mark
 * carries their number (data-depth), so that overlaps stay legible.
 */
export function paint(element, layers) {
  const state = JSON.stringify(layers);
  if (element.dataset.painted === state || (!layers.length && !element.dataset.painted)) return;
  const text = element.textContent;
  const cuts = new Set([0, text.length]);
  for (const layer of layers) cuts.add(layer.start).add(layer.end);
  const edges = [...cuts].sort((a, b) => a - b);
  const pieces = document.createDocumentFragment();
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const [start, end] = [edges[i], edges[i + 1]];
    const here = layers.filter((layer) => layer.start <= start && layer.end >= end);
    const piece = text.slice(start, end);
    if (!here.length) {
      pieces.append(piece);
      continue;
    }
    const mark = document.createElement("mark");
    mark.className = [...new Set(here.map((layer) => layer.kind))].join(" ");
    mark.dataset.depth = Math.min(3, here.filter((layer) => layer.kind === "chosen").length);
    mark.textContent = piece;
    pieces.append(mark);
  }
  element.replaceChildren(pieces);
  element.dataset.painted = state;
}

/** UTF-16 offset of a DOM position inside `element`; positions outside are clamped to its ends. */
function offsetOf(element, node, offset) {
  const range = document.createRange();
  range.selectNodeContents(element);
  if (range.comparePoint(node, offset) < 0) return 0;
  if (range.comparePoint(node, offset) > 0) return element.textContent.length;
  range.setEnd(node, offset);
  return range.toString().length;
}

/** What is selected inside one of `elements`, widened to words unless `byCharacter`; null when nothing is. */
function selected(elements, byCharacter) {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const touched = elements.filter((element) => range.intersectsNode(element));
  const element = touched.find((candidate) => candidate.contains(selection.anchorNode)) ?? touched[0];
  if (!element) return null;
  const start = offsetOf(element, range.startContainer, range.startOffset);
  const end = offsetOf(element, range.endContainer, range.endOffset);
  const span = snap(element.textContent, start, end, byCharacter);
  return span && { element, ...span };
}

/**
 * The keyboard's caret in one text. `act` has add(span), removeAt(span), leave() and moved(span); the caller paints.
 * Returns {span, key(event)}; key says whether it used the event.
 */
function createCaret(element, act) {
  const text = element.textContent;
  const stops = words(text);
  if (!stops.length) return null;
  let anchor = { ...stops[0] };
  let span = { start: anchor.start, end: anchor.end };
  let direction = 1;

  const set = (next, isExtended) => {
    span = { start: next.start, end: next.end };
    if (!isExtended) anchor = { ...span };
    act.moved(span);
  };
  const after = (test) => stops.find(test);
  const before = (test) => stops.findLast(test);

  function moveWord(towards) {
    const word = towards > 0 ? after((stop) => stop.start >= span.end) : before((stop) => stop.start < span.start);
    if (word) set(word, false);
  }

  function extendWord(towards) {
    if (span.start === anchor.start && span.end === anchor.end) direction = towards;
    const next = { ...span };
    if (direction > 0) {
      const word = towards > 0 ? after((stop) => stop.end > span.end) : before((stop) => stop.end < span.end);
      if (word) next.end = Math.max(word.end, anchor.end);
    } else {
      const word = towards < 0 ? before((stop) => stop.start < span.start) : after((stop) => stop.start > span.start);
      if (word) next.start = Math.min(word.start, anchor.start);
    }
    set(next, true);
  }

  function moveCharacter(towards) {
    const start = towards > 0 ? step(text, span.start, 1) : step(text, span.start, -1);
    const end = step(text, start, 1);
    if (end > start) set({ start, end }, false);
  }

  function extendCharacter(towards) {
    if (span.start === anchor.start && span.end === anchor.end && towards > 0) direction = 1;
    const next = { ...span };
    if (direction > 0) next.end = step(text, span.end, towards);
    else next.start = step(text, span.start, towards);
    if (next.end > next.start) set(next, true);
  }

  function line(towards, isExtended) {
    const mark = element.querySelector("mark.caret");
    if (!mark) return;
    mark.scrollIntoView({ block: "nearest" });
    const boxes = mark.getClientRects();
    const box = direction > 0 ? boxes[boxes.length - 1] : boxes[0];
    const height = parseFloat(getComputedStyle(element).lineHeight) || box.height * 1.5;
    const hit = offsetAt(box.left + box.width / 2, box.top + box.height / 2 + towards * height);
    if (hit === null) return;
    const word = after((stop) => stop.end > hit) ?? stops[stops.length - 1];
    if (!isExtended) set(word, false);
    else {
      direction = word.start >= anchor.start ? 1 : -1;
      set({ start: Math.min(word.start, anchor.start), end: Math.max(word.end, anchor.end) }, true);
    }
  }

  function offsetAt(x, y) {
    const place = document.caretPositionFromPoint?.(x, y);
    const range = place ? null : document.caretRangeFromPoint?.(x, y);
    const node = place?.offsetNode ?? range?.startContainer;
    if (!node || !element.contains(node)) return null;
    return offsetOf(element, node, place?.offset ?? range.startOffset);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey) return false;
    const isRightToLeft = getComputedStyle(element).direction === "rtl";
    const towards = (event.key === "ArrowRight") !== isRightToLeft ? 1 : -1;
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
      case "Home":
      case "End":
        set(event.key === "Home" ? stops[0] : stops[stops.length - 1], false);
        return true;
      case "Enter":
      case " ":
        act.add({ ...span });
        set({ start: span.start, end: span.end }, false);
        return true;
      case "Delete":
      case "Backspace":
        act.removeAt({ ...span });
        return true;
      case "Escape":
      case "h":
        act.leave();
        return true;
      default:
        return false;
    }
  }

  return { element, key, get span() { return span; } };
}

/**
 * Highlighting on whatever item `itemNow()` gives. `page` has announce(text), tell(text), focus() (back to the questions)
 * and left() (the caret is gone).
 */
export function createHighlighter(stage, itemNow, page) {
  let caret = null;

  function add(element, { start, end }) {
    const { field } = element.dataset;
    const group = itemNow().spanGroups().find((candidate) => candidate.dimension.spans.field === field);
    if (group && itemNow().addSpan(group, { field, start, end })) page.announce(`Highlighted: ${element.textContent.slice(start, end)}`);
  }

  function removeAt(field, span) {
    for (const group of itemNow().spanGroups()) {
      const index = itemNow().spansOf(group).findLastIndex((other) => other.field === field && other.start < span.end && other.end > span.start);
      if (index < 0) continue;
      itemNow().removeSpan(group, index);
      return page.announce("Highlight removed");
    }
  }

  /** Turns the mouse's or the finger's selection into a span; true when there was one. */
  function take(byCharacter) {
    const item = itemNow();
    if (!item || item.stage === "waiting") return false;
    const fields = [...new Set(item.spanGroups().map((group) => item.fields.get(group.dimension.spans.field)))];
    const found = fields.length ? selected(fields, byCharacter) : null;
    if (!found) return false;
    document.getSelection().removeAllRanges();
    add(found.element, found);
    return true;
  }

  function leave() {
    if (!caret) return;
    caret.element.classList.remove("has-caret");
    caret = null;
    itemNow()?.setCaret(null);
    page.left();
  }

  /** What the mouse selected, or else a caret in the text. */
  function start() {
    const item = itemNow();
    if (!item || item.stage === "waiting" || take(false)) return;
    const group = item.spanGroups()[0];
    if (!group) return page.tell("Nothing is highlighted in this task");
    const element = item.fields.get(group.dimension.spans.field);
    const { field } = element.dataset;
    const show = (span) => {
      item.setCaret({ field, ...span });
      element.querySelector("mark.caret")?.scrollIntoView({ block: "nearest" });
      page.announce(element.textContent.slice(span.start, span.end));
    };
    caret = createCaret(element, {
      add: (span) => add(element, span),
      removeAt: (span) => removeAt(field, span),
      leave() {
        leave();
        page.focus();
      },
      moved: show,
    });
    if (!caret) return;
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.classList.add("has-caret");
    show(caret.span);
    page.tell("Arrows move, Shift extends, Enter adds, Delete removes, Esc leaves");
  }

  stage.addEventListener("focusin", (event) => caret && !caret.element.contains(event.target) && leave());
  stage.addEventListener("pointerup", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) setTimeout(() => take(event.shiftKey || event.altKey), 0);
  });
  // Pressing the button must not lose the selection that it is meant for.
  for (const press of ["pointerdown", "mousedown"]) {
    stage.addEventListener(press, (event) => event.target.closest('[data-do="highlight"]') && event.preventDefault());
  }
  return { start, leave, key: (event) => caret !== null && caret.element.contains(event.target) && caret.key(event) };
}
