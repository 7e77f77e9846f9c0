// Highlights as ranges of the texts: the page counts UTF-16 units, what is sent and stored code points.

export const isSame = (a, b) => a.field === b.field && a.start === b.start && a.end === b.end && a.label === b.label;
const named = (label) => (label ? { label } : {}); // where highlights have labels of their own

/** `texts` are the item's by name. */
export function createSpans(texts) {
  const order = new Map([...texts.keys()].map((field, index) => [field, index]));
  return {
    named,
    inOrder: (a, b) => order.get(a.field) - order.get(b.field) || a.start - b.start || a.end - b.end || (a.label ?? "").localeCompare(b.label ?? ""),
    codePoints({ field, start, end, label }) {
      const { text, toCodePoints } = texts.get(field);
      return { field, start: toCodePoints(start), end: toCodePoints(end), quote: text.slice(start, end), ...named(label) };
    },
    utf16({ field, start, end, label }) {
      const own = texts.get(field);
      return { field, start: own?.toUtf16(start) ?? 0, end: own?.toUtf16(end) ?? 0, ...named(label) };
    },
  };
}
