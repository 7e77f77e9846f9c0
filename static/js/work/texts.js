// One text of an item: places in it, and the marks that divide it.
// The browser counts UTF-16 units, the server counts code points; nothing here splits a surrogate pair or a grapheme
// (a letter with its combining marks, a family emoji). The text content of an element is never changed, only divided.
// Texts may have 300,000 characters and hundreds of marks, so only what is near a place is ever looked at or painted anew,
// and a browser lays out anew only the part of a long text in which something changed.

// ---- code points ----

const isPair = (text, i) => (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;

/** How many of the first elements of a list pass, where all that pass come first. */
function countWhile(length, test) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Converts offsets of `text` between UTF-16 units and code points by a table of its surrogate pairs (most have none). */
function createCounter(text) {
  const pairs = [];
  if (/[\ud800-\udbff]/.test(text)) for (let i = 0; i < text.length; i += 1) if (isPair(text, i)) pairs.push(i);
  return {
    toCodePoints: (offset) => offset - countWhile(pairs.length, (i) => pairs[i] < offset),
    toUtf16: (points) => Math.min(points + countWhile(pairs.length, (i) => pairs[i] - i < points), text.length),
  };
}

// ---- words and graphemes ----

const CHUNK = 1000; // text is segmented by about so much at a time, where somebody is
const FAR = 4 * CHUNK;

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

/** Where `text` may be cut so that no word and no grapheme is: after white space that nothing clings to. */
function cutsOf(text) {
  const cuts = [0];
  const gap = /\s(?![\s\p{M}\p{Cf}])/gu;
  for (let last = 0; text.length - last > 2 * CHUNK; last = cuts.at(-1)) {
    gap.lastIndex = last + CHUNK;
    const found = gap.exec(text);
    let cut = found ? found.index + 1 : text.length;
    if (cut - last > FAR) {
      // Writing without spaces: between two graphemes, as seen from some way before.
      const from = last + 2 * CHUNK - 100;
      cut = from + segment(text.slice(from, from + 200), "grapheme").find((part) => part.start >= 100).start;
    }
    if (cut >= text.length) break;
    cuts.push(cut);
  }
  return cuts;
}

function createSegments(text) {
  const kept = { word: new Map(), grapheme: new Map() };
  // A text without a single letter is walked through sign by sign.
  const hasWords = /[\p{L}\p{N}]/u.test(text);
  let cuts = null;
  const chunkOf = (offset) => {
    cuts ??= cutsOf(text);
    return Math.max(0, countWhile(cuts.length, (i) => cuts[i] <= offset) - 1);
  };
  const parts = (granularity, chunk) => {
    const cache = kept[granularity];
    if (!cache.has(chunk)) {
      const from = cuts[chunk];
      const found = segment(text.slice(from, cuts[chunk + 1] ?? text.length), granularity);
      cache.set(chunk, found.map((part) => ({ start: part.start + from, end: part.end + from, word: part.word })));
    }
    return cache.get(chunk);
  };
  const isStop = (part) => (hasWords ? part.word : /\S/u.test(text.slice(part.start, part.end)));
  return {
    /** The word or grapheme that contains `offset` (the last one for the end of the text). */
    at(granularity, offset) {
      const list = parts(granularity, chunkOf(Math.min(offset, text.length - 1)));
      return list[Math.min(countWhile(list.length, (i) => list[i].end <= offset), list.length - 1)];
    },
    /** The first word that passes, looking from `offset` on; the text's last ones come to nothing: undefined. */
    next(offset, test) {
      for (let chunk = chunkOf(offset); chunk < cuts.length; chunk += 1) {
        const found = parts("word", chunk).find((part) => isStop(part) && test(part));
        if (found) return found;
      }
      return undefined;
    },
    /** The last word that passes, looking from `offset` back. */
    previous(offset, test) {
      for (let chunk = chunkOf(offset); chunk >= 0; chunk -= 1) {
        const found = parts("word", chunk).findLast((part) => isStop(part) && test(part));
        if (found) return found;
      }
      return undefined;
    },
  };
}

// ---- parts ----

const PARTED = 8 * CHUNK; // texts of this length on are divided into parts

/** Where the parts of a text begin: after a line feed, which changes no line; in a paragraph that is too long for that
 * between two words, which begins a new line there. */
function partsOf(text) {
  const starts = [0];
  if (text.length < PARTED) return starts;
  const cuts = cutsOf(text);
  for (;;) {
    const last = starts.at(-1);
    const feed = text.indexOf("\n", last + CHUNK) + 1;
    const next = feed && feed - last <= FAR ? feed : cuts.find((cut) => cut >= last + 2 * CHUNK);
    if (!next || next >= text.length) return starts;
    starts.push(next);
  }
}

// ---- one text ----

const lanes = ["100% 0", "5px 3px", "2px 2px", "9px 2px"]; // dashes and gaps of the lines below, by aspect

/** The line and the tint of a numbered unit; both differ from unit to unit, the line's dashes as well. */
function look(number, lane, band, bands) {
  const colour = ((number - 1) % 20) + 1;
  const [dash, gap] = lanes[(number - 1) % lanes.length].split(" ");
  const line = `var(--aspect-${colour}-line)`;
  const tint = `var(--aspect-${colour})`;
  const bottom = `100% 2px no-repeat`;
  const stroke = gap === "0" ? `linear-gradient(${line} 0 0)` : `repeating-linear-gradient(90deg, ${line} 0 ${dash}, transparent ${dash} calc(${dash} + ${gap}))`;
  return {
    line: `${stroke} 0 calc(100% - ${lane * 3}px) / ${bottom}`,
    tint: `${tint} ${(band / bands) * 100}% ${((band + 1) / bands) * 100}%`,
  };
}

const LANES = 4;

function dress(mark, numbers, isTinted) {
  const looks = numbers.map((number, i) => look(number, i, i, numbers.length));
  const lines = looks.slice(0, LANES).map((one) => one.line);
  // Others' highlights are lines alone: the tint is what the reader chose.
  mark.style.background = [...lines, ...(isTinted ? [`linear-gradient(${looks.map((one) => one.tint).join(", ")})`] : mark.matches(".chosen") ? ["var(--mark)"] : [])].join(", ");
  mark.style.paddingBlockEnd = `${lines.length * 3 - 1}px`;
}

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
    const mark = document.createElement("mark");
    mark.className = [...new Set(here.map((layer) => layer.kind))].sort().join(" ");
    mark.dataset.depth = Math.min(3, here.filter((layer) => layer.kind === "chosen").length);
    const numbers = [...new Set(here.filter((layer) => layer.number).map((layer) => layer.number))].sort((a, b) => a - b);
    if (numbers.length) {
      mark.dataset.numbers = numbers.join(" ");
      const isTinted = here.some((layer) => layer.kind === "chosen" && layer.number);
      if (isTinted || here.some((layer) => layer.letter)) dress(mark, numbers, isTinted);
    }
    mark.append(content);
    const letters = [...new Set(here.filter((layer) => layer.letter).map((layer) => layer.letter))].sort();
    return adopt({ start, end, node: mark, isMark: true, numbers: (letters.length ? letters : numbers).join("·") });
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
