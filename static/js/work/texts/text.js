// One text of an item: places in it, and the marks that divide it.
// The text content of an element is never changed, only divided. Texts may have hundreds of marks, so only what is near a
// place is painted anew, and a browser lays out anew only the part of a long text in which something changed.

import { makeMark } from "./marks.js";
import { countWhile, createCounter, createSegments, partsOf } from "./places.js";

/** `element` has the text as its only content. */
export function createText(element) {
  const text = element.textContent;
  const counter = createCounter(text);
  const segments = createSegments(text);
  const owner = new WeakMap(); // node -> its piece
  let pieces = []; // {start, end, node, isMark, numbers}: what the text is divided into, in order
  let painted = new Map(); // layers by name

  function adopt(piece) {
    owner.set(piece.node, piece);
    if (piece.isMark) owner.set(piece.node.firstChild, piece);
    return piece;
  }
  const starts = partsOf(text);
  let parts = [element]; // the elements that hold the pieces
  if (starts.length > 1) {
    parts = starts.map((start, i) => Object.assign(document.createElement("span"), { className: "part", textContent: text.slice(start, starts[i + 1]) }));
    element.replaceChildren(...parts);
  }
  const partAt = (offset) => countWhile(starts.length, (i) => starts[i] <= offset) - 1;
  let at = 0;
  for (const part of parts) {
    for (const node of part.childNodes) {
      const { length } = node.textContent;
      pieces.push(adopt({ start: at, end: at + length, node, isMark: false, numbers: "" }));
      at += length;
    }
  }

  const pieceAt = (offset) => countWhile(pieces.length, (i) => pieces[i].end <= offset);

  function make(start, end, here) {
    const content = document.createTextNode(text.slice(start, end));
    if (!here.length) return adopt({ start, end, node: content, isMark: false, numbers: "" });
    return adopt({ start, end, isMark: true, ...makeMark(content, here) });
  }

  /** Numbers stand where they begin to hold, not again after each cut. */
  function badge(index) {
    const piece = pieces[index];
    if (!piece?.isMark) return;
    if (piece.numbers && piece.numbers !== pieces[index - 1]?.numbers) piece.node.dataset.badge = piece.numbers;
    else delete piece.node.dataset.badge;
  }

  function repaint(start, end, layers) {
    // With a piece on either side: what is no longer different from its neighbour joins it.
    const first = Math.max(0, pieceAt(start) - 1);
    const last = Math.min(pieces.length - 1, pieceAt(end - 1) + 1);
    const [from, to] = [pieces[first].start, pieces[last].end];
    const near = layers.filter((layer) => layer.start < to && layer.end > from);
    const cuts = new Set([from, to]);
    for (const layer of near) cuts.add(Math.max(from, layer.start)).add(Math.min(to, layer.end));
    for (let i = partAt(from) + 1; starts[i] < to; i += 1) cuts.add(starts[i]);
    const edges = [...cuts].sort((a, b) => a - b);
    const made = [];
    for (let i = 0; i + 1 < edges.length; i += 1) {
      made.push(make(edges[i], edges[i + 1], near.filter((layer) => layer.start <= edges[i] && layer.end >= edges[i + 1])));
    }
    const old = pieces.splice(first, last - first + 1, ...made);
    let next = 0; // what stands in the place of the piece, or of one before it in its part
    for (const piece of made) {
      const part = parts[partAt(piece.start)];
      while (old[next].node.parentNode !== part) next += 1;
      part.insertBefore(piece.node, old[next].node);
    }
    for (const piece of old) piece.node.remove();
    for (let i = first; i <= first + made.length; i += 1) badge(i);
  }

  return {
    element, text, ...counter,
    isEmpty: !text.trim(),
    title: element.dataset.title ?? element.closest(".sheet")?.querySelector("h2")?.textContent.trim() ?? "",
    nextWord: segments.next,
    previousWord: segments.previous,

    /** The grapheme boundary before (`direction` -1) or after (1) an offset. */
    step(offset, direction) {
      if (direction > 0) return offset >= text.length ? text.length : segments.at("grapheme", offset).end;
      return offset <= 0 ? 0 : segments.at("grapheme", offset - 1).start;
    },

    /**
     * Widen [start, end) to whole words, or only to whole graphemes, and drop white space at its ends.
     * Null when nothing but white space is left.
     */
    snap(start, end, byCharacter = false) {
      while (start < end && /\s/u.test(text[start])) start += 1;
      while (end > start && /\s/u.test(text[end - 1])) end -= 1;
      if (start >= end) return null;
      for (const granularity of byCharacter ? ["grapheme"] : ["word", "grapheme"]) {
        const [first, last] = [segments.at(granularity, start), segments.at(granularity, end - 1)];
        // Punctuation is kept only as far as it was selected.
        if (granularity === "grapheme" || first.word) start = first.start;
        if (granularity === "grapheme" || last.word) end = last.end;
      }
      return { start, end };
    },

    /** The offset of a place in the document; places outside are clamped to the ends. */
    offsetOf(node, offset) {
      const part = parts.indexOf(node);
      if (part >= 0) return pieces[pieceAt(starts[part]) + offset]?.start ?? text.length;
      if (node === element) return starts[offset] ?? text.length;
      const piece = owner.get(node);
      if (piece) return node === piece.node && piece.isMark ? (offset ? piece.end : piece.start) : piece.start + offset;
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.comparePoint(node, offset) < 0 ? 0 : text.length;
    },

    /**
     * Show `layers`: {start, end, kind, number}. Only what differs from the last time is divided anew. Where several
     * "chosen" ones overlap, the mark carries how many (data-depth); those with a `number` carry their numbers.
     */
    paint(layers) {
      if (!painted.size && !layers.length) return;
      const named = new Map();
      for (const layer of layers) if (layer.end > layer.start) named.set(`${layer.start} ${layer.end} ${layer.kind} ${layer.number ?? ""} ${layer.letter ?? ""}`, layer);
      const changed = [];
      for (const [name, layer] of painted) if (!named.has(name)) changed.push(layer);
      for (const [name, layer] of named) if (!painted.has(name)) changed.push(layer);
      if (!changed.length) return;
      painted = named;
      const all = [...named.values()];
      changed.sort((a, b) => a.start - b.start);
      let [start, end] = [changed[0].start, changed[0].end];
      for (const layer of changed) {
        if (layer.start > end) {
          repaint(start, end, all);
          start = layer.start;
        }
        end = Math.max(end, layer.end);
      }
      repaint(start, end, all);
    },

    /** The marks between two offsets. */
    marks(start, end) {
      const found = [];
      for (let i = pieceAt(start); i < pieces.length && pieces[i].start < end; i += 1) if (pieces[i].isMark) found.push(pieces[i].node);
      return found;
    },
  };
}
