// Offsets in a text: the browser counts UTF-16 units, the server counts code points.

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
