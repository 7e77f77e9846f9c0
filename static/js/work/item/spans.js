// Highlights as ranges of the texts: the page counts UTF-16 units, what is sent and stored code points.

/** The same highlight: a judgement has it once. */
export const isSame = (a, b) => a.field === b.field && a.start === b.start && a.end === b.end && a.label === b.label && a.severity === b.severity;
/** The same in everything, the reason included. */
export const isEqual = (a, b) => isSame(a, b) && a.reason === b.reason;
const MORE = ["label", "severity", "reason"]; // what highlights may have, each left out where there is none
const named = (span) => Object.fromEntries(MORE.filter((name) => span[name]).map((name) => [name, span[name]]));

/** `texts` are the item's by name. */
export function createSpans(texts) {
  const order = new Map([...texts.keys()].map((field, index) => [field, index]));
  return {
    named,
    inOrder: (a, b) => order.get(a.field) - order.get(b.field) || a.start - b.start || a.end - b.end || (a.label ?? "").localeCompare(b.label ?? "") || (a.severity ?? "").localeCompare(b.severity ?? ""),
    codePoints({ field, start, end, ...more }) {
      const { text, toCodePoints } = texts.get(field);
      return { field, start: toCodePoints(start), end: toCodePoints(end), quote: text.slice(start, end), ...named(more) };
    },
    utf16({ field, start, end, ...more }) {
      const own = texts.get(field);
      return { field, start: own?.toUtf16(start) ?? 0, end: own?.toUtf16(end) ?? 0, ...named(more) };
    },
  };
}
