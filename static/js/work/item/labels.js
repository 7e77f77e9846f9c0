// Answers as they are stored: one label, several labels, a number or a text.

const NONE = [];
// As annotation/task_types/base.py writes an answer of several labels.
const SEPARATOR = "|";
const NONE_CHOSEN = "(none)";

/** The labels that an answer consists of. */
export const chosenIn = (dimension, answer) => (answer === undefined ? NONE : dimension.answer === "labels" ? answer.split(SEPARATOR) : [answer]);

/** The answer that holds one label more, or one less; undefined where nothing is left. None of them is an answer, too. */
export function toggled(dimension, answer, value) {
  if (value === NONE_CHOSEN) return answer === value ? undefined : value;
  const chosen = new Set(chosenIn(dimension, answer));
  chosen.delete(NONE_CHOSEN);
  if (!chosen.delete(value)) chosen.add(value);
  return dimension.scale.filter((one) => chosen.has(one)).join(SEPARATOR) || undefined;
}

/** A number as it is stored; undefined for what is none in the range. */
export function numberIn({ least, most, step }, text) {
  const value = Number(text);
  const stored = String(value === 0 ? 0 : value);
  if (!text.trim() || !Number.isFinite(value) || stored.includes("e")) return undefined;
  if ((least !== null && value < least) || (most !== null && value > most)) return undefined;
  if (step === null) return stored;
  const start = least ?? 0;
  // Bounds and steps have six decimals at most; floats may be off behind these.
  return Number((start + Math.round((value - start) / step) * step).toFixed(6)) === value ? stored : undefined;
}

/** Whether a draft's answer is still one that the question can have. */
export function isPossible(dimension, answer) {
  if (dimension.answer === "text") return true;
  if (dimension.number) return numberIn(dimension.number, answer) === answer;
  return chosenIn(dimension, answer).every((value) => dimension.labels.some((label) => label.value === value));
}
