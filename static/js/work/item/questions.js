// The questions of an item: the groups of controls that the page has for them, when each is asked, and which highlights
// it may have. Everything is known from the payload.

import { chosenIn } from "./labels.js";

const NONE = [];
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
      const group = { key, unit, number: index + 1, dimension, box, spans, inputs: [...box.querySelectorAll("input, textarea")], index: groups.length };
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
    return rule && (!rule.labels?.length || chosenIn(group.dimension, answer).some((value) => rule.labels.includes(value)));
  };
  /** Whether a group's highlights may lie in a text; a name that ends in * stands for all that begin so. */
  const takes = ({ dimension }, field) => dimension.spans?.fields.some((name) => (name.endsWith("*") ? field.startsWith(name.slice(0, -1)) : name === field)) ?? false;
  const fieldsOf = new Map(payload.dimensions.map((dimension) => [dimension, fields.filter((field) => takes({ dimension }, field))]));
  /** Labels that a group's highlights may have; none where they have none of their own. */
  const ownLabels = (group) => group.dimension.spans?.own_labels ?? NONE;

  return {
    groups, byKey, groupsOf, conditionOf, isAsked, isOptional, mayCarry, takes, ownLabels,
    isMany: payload.units.length > 1,
    isConditional: payload.dimensions.some((dimension) => dimension.asked_when),
    groupOf: (element) => byBox.get(element),
    spanFields: (group) => fieldsOf.get(group.dimension),
    fits: (group, { label }) => (ownLabels(group).length ? ownLabels(group).some((one) => one.value === label) : label === undefined),
    titleOf: (group, answer) => chosenIn(group.dimension, answer).map((value) => group.dimension.labels.find((label) => label.value === value)?.title ?? value).join(", "),
  };
}
