// One text of an item: its words and the places in it, as its source and, where it has a format, as it looks. Places are
// offsets into the source, whichever is on the screen. A highlight that is made of words begins and ends with what is
// shown of them, not with the signs of the format around them, so that it is the same in both.

import { createPainter } from "./painter.js";
import { createCounter, createSegments, partsOf } from "./places.js";

/** The parts of a text that is its element's only content: a browser lays out anew only the part that changed. */
function dividedParts(element, text) {
  const starts = partsOf(text);
  if (starts.length === 1) return [{ element, start: 0, end: text.length }];
  const parts = starts.map((start, i) => {
    const end = starts[i + 1] ?? text.length;
    return { start, end, element: Object.assign(document.createElement("span"), { className: "part", textContent: text.slice(start, end) }) };
  });
  element.replaceChildren(...parts.map((part) => part.element));
  return parts;
}

/** The runs of a rendered text (annotation/rendering/runs.py). */
function renderedParts(element, { toUtf16 }) {
  return [...element.querySelectorAll("[data-at]")].map((run) => {
    const [at, shown] = [Number(run.dataset.at), run.textContent];
    const start = toUtf16(at);
    return "length" in run.dataset ? { element: run, start, end: toUtf16(at + Number(run.dataset.length)), shown, content: run.firstChild.cloneNode(true) } : { element: run, start, end: start + shown.length };
  });
}

/** `element` has the text as its only content, or the text's two views. */
export function createText(element) {
  const [source, rendered] = ["source", "rendered"].map((name) => element.querySelector(`:scope > [data-view="${name}"]`));
  const text = (source ?? element).textContent;
  const counter = createCounter(text);
  const segments = createSegments(text);
  const views = { source: createPainter(source ?? element, text, dividedParts(source ?? element, text)) };
  if (rendered) views.rendered = createPainter(rendered, text, renderedParts(rendered, counter));
  let view = views.rendered ?? views.source;
  let painted = []; // layers

  /** What of a stretch of words is shown where the text is rendered. Null where nothing is, and the source is not on the screen. */
  function shownOf({ start, end }) {
    return (views.rendered ?? view).trim(start, end) ?? (view === views.source ? { start, end } : null);
  }

  /** Without what the page does not show and white space at the ends; null when nothing is left. */
  function tighten(found, shown) {
    for (let before = null; found && (found.start !== before?.start || found.end !== before.end);) {
      before = found;
      let { start, end } = found;
      while (start < end && /\s/u.test(text[start])) start += 1;
      while (end > start && /\s/u.test(text[end - 1])) end -= 1;
      found = start < end ? shown({ start, end }) : null;
    }
    return found;
  }

  const word = (found) => found && shownOf(found);
  const passes = (test) => (part) => {
    const shown = shownOf(part);
    return shown !== null && test(shown);
  };

  return {
    element, text, ...counter,
    isEmpty: !text.trim(),
    title: element.dataset.title ?? element.closest(".sheet")?.querySelector("h2")?.textContent.trim() ?? "",
    nextWord: (offset, test) => word(segments.next(offset, passes(test))),
    previousWord: (offset, test) => word(segments.previous(offset, passes(test))),
    trim: (start, end) => view.trim(start, end),

    /** The grapheme boundary before (`direction` -1) or after (1) an offset. */
    step(offset, direction) {
      const part = direction > 0 ? view.partAfter(offset) : view.partBefore(offset);
      if (!part) return direction > 0 ? Math.max(offset, view.partBefore(text.length)?.end ?? 0) : Math.min(offset, view.partAfter(0)?.start ?? 0);
      if (part.shown !== undefined) return direction > 0 ? part.end : part.start;
      if (direction > 0) return Math.min(segments.at("grapheme", Math.max(offset, part.start)).end, part.end);
      return Math.max(segments.at("grapheme", Math.min(offset, part.end) - 1).start, part.start);
    },

    /**
     * Widen [start, end) to whole words, or only to whole graphemes, and drop white space at its ends.
     * Null when nothing but white space is left.
     */
    snap(start, end, byCharacter = false) {
      const shown = byCharacter ? (found) => view.trim(found.start, found.end) : shownOf;
      const found = tighten({ start, end }, shown);
      if (!found) return null;
      for (const granularity of byCharacter ? ["grapheme"] : ["word", "grapheme"]) {
        const [first, last] = [segments.at(granularity, found.start), segments.at(granularity, found.end - 1)];
        // Punctuation is kept only as far as it was selected.
        if (granularity === "grapheme" || first.word) found.start = first.start;
        if (granularity === "grapheme" || last.word) found.end = last.end;
      }
      return tighten(found, shown);
    },

    offsetOf: (...place) => view.offsetOf(...place),

    /** Shows `layers` (createPainter) in the view that is on the screen. */
    paint(layers) {
      painted = layers;
      view.paint(layers);
    },

    marks: (start, end) => view.marks(start, end),

    /** Scrolls a mark into sight; what is folded opens. */
    bring(mark, block = "nearest") {
      for (let fold = mark?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      mark?.scrollIntoView({ block, behavior: "instant" });
    },

    /** What is on the screen. */
    shownElement: () => view.element,
    isFormatted: Boolean(rendered),
    isRendered: () => view === views.rendered,

    /** Puts a view on the screen: "source" or "rendered". */
    show(name) {
      if (!rendered || view === views[name]) return;
      view = views[name];
      for (const [other, { element: box }] of Object.entries(views)) box.hidden = other !== name;
      view.paint(painted);
    },
  };
}
