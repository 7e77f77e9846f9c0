// Places in a text: the browser counts UTF-16 units, the server counts code points. A text may be divided at words, at
// graphemes (a letter with its combining marks, a family emoji), and into parts that a browser lays out by themselves. No
// surrogate pair is split. Texts may have 300,000 characters, so only what is near a place is segmented.

// ---- code points ----

const isPair = (text, i) => (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;

/** How many of the first elements of a list pass, where all that pass come first. */
export function countWhile(length, test) {
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
export function createCounter(text) {
  const pairs = [];
  if (/[\ud800-\udbff]/.test(text)) for (let i = 0; i < text.length; i += 1) if (isPair(text, i)) pairs.push(i);
  return {
    toCodePoints: (offset) => offset - countWhile(pairs.length, (i) => pairs[i] < offset),
    toUtf16: (points) => Math.min(points + countWhile(pairs.length, (i) => pairs[i] - i < points), text.length),
  };
}

// ---- words and graphemes ----

const CHUNK = 1000; // text is segmented in pieces of about this length, near the place that is needed
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

export function createSegments(text) {
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

const PARTED = 8 * CHUNK; // texts of this length on are divided into parts

/** Where the parts of a text begin: after a line feed, which changes no line; in a paragraph that is too long for that
 * between two words, which begins a new line there. */
export function partsOf(text) {
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
