// One way of showing a text: the parts of the page that hold it, and the marks that divide them. The text itself is never
// changed. Texts may have hundreds of marks, so only what is near a place is painted anew.

import { makeMark } from "./marks.js";
import { countWhile } from "./places.js";

/** `parts` are {element, start, end, shown, content}, in the order of the text: elements that hold nothing but a stretch
 * of it. What lies between two of them is not on the page. A part with `shown` shows that (`content`: its node) in place
 * of its stretch, and is marked as a whole. */
export function createPainter(element, text, parts) {
  const owner = new WeakMap(); // node -> its piece
  const partOf = new Map(parts.map((part) => [part.element, part]));
  let pieces = []; // {start, end, node, isMark, numbers}: what the parts are divided into, in order
  let painted = new Map(); // layers by name

  function adopt(piece) {
    owner.set(piece.node, piece);
    if (piece.isMark) owner.set(piece.node.firstChild, piece);
    return piece;
  }
  for (const part of parts) {
    let at = part.start;
    for (const node of part.element.childNodes) {
      const end = part.shown === undefined ? at + node.textContent.length : part.end;
      pieces.push(adopt({ start: at, end, node, isMark: false, isWhole: part.shown !== undefined, numbers: "" }));
      at = end;
    }
  }

  const partAt = (offset) => countWhile(parts.length, (i) => parts[i].start <= offset) - 1;
  const pieceAt = (offset) => countWhile(pieces.length, (i) => pieces[i].end <= offset);
  /** The first part that goes on after an offset, and the last that begins before it. */
  const partAfter = (offset) => parts[countWhile(parts.length, (i) => parts[i].end <= offset)];
  const partBefore = (offset) => parts[countWhile(parts.length, (i) => parts[i].start < offset) - 1];
  const isWithinWhole = (offset) => {
    const part = parts[partAt(offset)];
    return part?.shown !== undefined && offset > part.start && offset < part.end;
  };

  function make(start, end, here, { shown, content: whole }) {
    const content = whole?.cloneNode(true) ?? document.createTextNode(text.slice(start, end));
    const more = { start, end, isWhole: shown !== undefined };
    if (!here.length) return adopt({ ...more, node: content, isMark: false, numbers: "" });
    return adopt({ ...more, isMark: true, ...makeMark(content, here) });
  }

  /** Numbers stand where they begin to hold, not again after each cut. */
  function badge(index) {
    const piece = pieces[index];
    if (!piece?.isMark) return;
    if (piece.numbers && piece.numbers !== pieces[index - 1]?.numbers) piece.node.dataset.badge = piece.numbers;
    else delete piece.node.dataset.badge;
  }

  function repaint(start, end, layers) {
    if (!pieces.length) return;
    // With a piece on either side: what is no longer different from its neighbour joins it.
    const first = Math.max(0, Math.min(pieceAt(start), pieces.length) - 1);
    const last = Math.min(pieces.length - 1, pieceAt(end - 1) + 1);
    const [from, to] = [pieces[first].start, pieces[last].end];
    const near = layers.filter((layer) => layer.start < to && layer.end > from);
    const cuts = new Set([from, to]);
    for (const { start: begin, end: stop } of near) for (const edge of [begin, stop]) if (edge > from && edge < to && !isWithinWhole(edge)) cuts.add(edge);
    for (let i = partAt(from); i < parts.length && parts[i].start < to; i += 1) cuts.add(Math.max(from, parts[i].start)).add(Math.min(to, parts[i].end));
    const edges = [...cuts].sort((a, b) => a - b);
    const made = [];
    for (let i = 0; i + 1 < edges.length; i += 1) {
      const part = parts[partAt(edges[i])];
      if (edges[i] >= part.end) continue;
      made.push(make(edges[i], edges[i + 1], near.filter((layer) => layer.start < edges[i + 1] && layer.end > edges[i]), part));
    }
    const old = pieces.splice(first, last - first + 1, ...made);
    let next = 0; // what stands in the place of the piece, or of one before it in its part
    for (const piece of made) {
      const part = parts[partAt(piece.start)].element;
      while (old[next].node.parentNode !== part) next += 1;
      part.insertBefore(piece.node, old[next].node);
    }
    for (const piece of old) piece.node.remove();
    for (let i = first; i <= first + made.length; i += 1) badge(i);
  }

  return {
    element, partAfter, partBefore,

    /** What of [start, end) is on the page, without what is not at its ends; null where nothing is. */
    trim(start, end) {
      const [first, last] = [partAfter(start), partBefore(end)];
      if (!first || first.start >= end || !last || last.end <= start) return null;
      return {
        start: first.shown === undefined ? Math.max(start, first.start) : first.start,
        end: last.shown === undefined ? Math.min(end, last.end) : last.end,
      };
    },

    /** The offset of a place in the document, which begins or ends a stretch; places outside are clamped to the ends. */
    offsetOf(node, offset, isEnd = false) {
      const part = partOf.get(node);
      if (part) {
        const piece = pieces[pieceAt(part.start) + offset];
        return piece && piece.start < part.end ? piece.start : part.end;
      }
      let piece = owner.get(node);
      for (let up = node; !piece && up && up !== element; up = up.parentNode) if ((piece = owner.get(up))) return isEnd ? piece.end : piece.start; // within a formula
      if (piece) return (node === piece.node && piece.isMark) || piece.isWhole ? (offset ? piece.end : piece.start) : piece.start + offset;
      const place = document.createRange();
      place.setStart(node, offset);
      const before = countWhile(parts.length, (i) => place.comparePoint(parts[i].element, 0) < 0);
      return isEnd ? (parts[before - 1]?.end ?? 0) : (parts[before]?.start ?? text.length);
    },

    /**
     * Show `layers`: {start, end, kind, number, word}. Only what differs from the last time is divided anew. Where several
     * "chosen" ones overlap, the mark carries how many (data-depth); those with a `number` carry their numbers.
     */
    paint(layers) {
      if (!painted.size && !layers.length) return;
      const named = new Map();
      for (const layer of layers) if (layer.end > layer.start) named.set(`${layer.start} ${layer.end} ${layer.kind} ${layer.number ?? ""} ${layer.letter ?? ""} ${layer.word ?? ""}`, layer);
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
