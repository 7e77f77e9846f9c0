// The questions of an item: the groups of controls that the page has for them, when each is asked, and which highlights
// it may have. Everything is known from the payload.

import { gettext } from "../../words.js";

// ---- answers as they are stored: one label, several labels, a number or a text ----

const NONE = [];
// As annotation/task_types/base.py writes an answer of several labels.
const SEPARATOR = "|";
const NONE_CHOSEN = "(none)";
export const CANNOT_JUDGE = "(cannot judge)";

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

// As annotation/task_types/base.py writes a ranking.
const ABOVE = "-";
const EQUAL = ".";
const UNNAMED = "_";
const ranksOf = (picks) => picks.split(ABOVE).filter((rank) => rank !== UNNAMED).map((rank) => rank.split(EQUAL).filter((text, at) => text || at));

/** The rankings that begin with these texts, which were picked one after the other. */
function rankingsFrom({ scale }, picks) {
  const ranks = ranksOf(picks);
  return scale.filter((value) => {
    const own = ranksOf(value);
    return ranks.every((rank, at) => rank.every((text) => !text || own[at]?.includes(text))
      && (at === ranks.length - 1 ? own[at].length >= rank.length : own[at].length === rank.length));
  });
}

/** The picks with one more, or one less, and the label once only one is left; null where no ranking begins like that. */
export function pickedAfter(dimension, picks, value) {
  let next = picks + (picks && !picks.endsWith(EQUAL) && value !== EQUAL ? ABOVE : "") + value;
  if (value === EQUAL && picks.endsWith(EQUAL)) next = picks.slice(0, -1);
  else if (value !== EQUAL && ranksOf(picks).flat().includes(value)) {
    next = ranksOf(picks).map((rank) => rank.filter((text) => text && text !== value).join(EQUAL)).filter(Boolean).join(ABOVE);
  }
  const found = next === EQUAL ? [] : rankingsFrom(dimension, next);
  return found.length ? { picks: next, label: found.length === 1 ? found[0] : undefined } : null;
}

/** What a text is after these picks: its place, or best or worst where only these are named; "" where it was not picked. */
export function placeOf({ scale }, picks, value) {
  const ranks = ranksOf(picks);
  const place = ranks.findIndex((rank) => rank.includes(value)) + 1;
  if (!place || value === EQUAL) return "";
  return scale[0].includes(UNNAMED) ? [gettext("best"), gettext("worst")][place - 1] : String(place);
}

/** Whether the next text that is picked is equal to the last. */
export const isPicked = (picks, value) => (value === EQUAL ? picks.endsWith(EQUAL) : ranksOf(picks).flat().includes(value));

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
  if (answer === CANNOT_JUDGE) return dimension.cannot_judge;
  if (dimension.answer === "text") return true;
  if (dimension.number) return numberIn(dimension.number, answer) === answer;
  return chosenIn(dimension, answer).every((value) => dimension.labels.some((label) => label.value === value));
}

// ---- questions ----

export const keyOf = (unit, dimension) => `${unit}\n${dimension}`;

/** A group is a question about a unit: {key, unit, number, dimension, box, spans, inputs, index}. `labels` are answers by
 * the keys of groups; `fields` are the names of the item's texts. */
export function createQuestions(node, payload, fields) {
  const groups = [];
  const byKey = new Map();
  const byBox = new Map();
  const ofUnit = new Map(payload.units.map((unit) => [unit, []]));
  const elements = new Map();
  for (const element of node.querySelectorAll("[data-group], [data-spans]")) {
    const key = keyOf(element.dataset.unit, element.dataset.dimension);
    elements.set(key, { ...elements.get(key), ["group" in element.dataset ? "box" : "spans"]: element });
  }
  payload.units.forEach((unit, index) => {
    for (const dimension of payload.dimensions) {
      const key = keyOf(unit, dimension.slug);
      const { box, spans } = elements.get(key) ?? {};
      if (!box) continue;
      const group = { key, unit, number: index + 1, dimension, picks: dimension.picks ?? NONE, box, spans, inputs: [...box.querySelectorAll("input:not([data-find-label]), textarea")], index: groups.length };
      groups.push(group);
      byKey.set(key, group);
      byBox.set(box, group);
      ofUnit.get(unit).push(group);
    }
  });
  const ofOptional = new Set(payload.optional_units ?? NONE); // units that may stay without an answer
  const groupsOf = (unit) => ofUnit.get(unit) ?? NONE;

  /** The key of the group on whose answer it depends whether this one is asked. */
  const conditionOf = (group) => group.dimension.asked_when && keyOf(group.unit, group.dimension.asked_when.dimension);
  const isAsked = (group, labels) => !group.dimension.asked_when
    || chosenIn(byKey.get(conditionOf(group)).dimension, labels[conditionOf(group)]).some((value) => group.dimension.asked_when.labels.includes(value));
  const isOptional = ({ unit, dimension }, labels) => dimension.optional || (ofOptional.has(unit) && !groupsOf(unit).some((group) => group.key in labels));

  const mayCarry = (group, answer) => {
    const rule = group.dimension.spans;
    return rule && answer !== CANNOT_JUDGE && (!rule.labels?.length || chosenIn(group.dimension, answer).some((value) => rule.labels.includes(value)));
  };
  /** Whether a group's highlights may lie in a text; a name that ends in * stands for all that begin so. */
  const takes = ({ dimension }, field) => dimension.spans?.fields.some((name) => (name.endsWith("*") ? field.startsWith(name.slice(0, -1)) : name === field)) ?? false;
  const fieldsOf = new Map(payload.dimensions.map((dimension) => [dimension, fields.filter((field) => takes({ dimension }, field))]));
  /** Labels that a group's highlights may have; none where they have none of their own. */
  const ownLabels = (group) => group.dimension.spans?.own_labels ?? NONE;
  /** How grave the errors may be that a group's highlights mark; none where they have no severity. */
  const severities = (group) => group.dimension.spans?.severities ?? NONE;
  const isOne = (known, value) => (known.length ? known.some((one) => one.value === value) : value === undefined);

  return {
    groups, byKey, groupsOf, conditionOf, isAsked, isOptional, mayCarry, takes, ownLabels, severities,
    isMany: payload.units.length > 1,
    isConditional: payload.dimensions.some((dimension) => dimension.asked_when),
    groupOf: (element) => byBox.get(element),
    spanFields: (group) => fieldsOf.get(group.dimension),
    fits: (group, { label, severity }) => isOne(ownLabels(group), label) && isOne(severities(group), severity),
    titleOf: (group, answer) => chosenIn(group.dimension, answer).map((value) => group.dimension.labels.find((label) => label.value === value)?.title ?? (value === CANNOT_JUDGE ? gettext("Cannot judge") : value)).join(", "),
  };
}
