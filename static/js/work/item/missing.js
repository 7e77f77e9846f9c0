// What an answer still lacks.

/** What is missing first: its group (or element) and what to say about it; null when everything is there. */
export function firstMissing({ item, questions, state, writing }) {
  const { groups, isMany, mayCarry, titleOf } = questions;
  const isLabelled = (group) => state.label(group) !== undefined;
  const isNeeded = (group) => state.isAsked(group) && !questions.isOptional(group, state.now().labels);
  for (const group of groups) {
    if (!isLabelled(group) && isNeeded(group)) return { group, message: askFor(group) };
    if (!isLabelled(group) || !state.isAsked(group)) continue;
    // Nothing can be required of a page that has no text to mark.
    const takesSpans = mayCarry(group, state.label(group)) && questions.spanFields(group).some((name) => !item.texts.get(name).isEmpty);
    if (group.dimension.spans?.required && takesSpans && !state.spans(group).length) {
      return { group, message: isMany ? `Number ${group.number} is “${titleOf(group, state.label(group))}”: highlight where` : "Highlight what made you decide" };
    }
  }
  const { free_text: freeText } = item.payload;
  if (freeText?.required && writing.element && !writing.words().trim()) return { element: writing.element, message: `Write: ${freeText.title}` };
  return null;

  function askFor({ dimension }) {
    if (isMany) return `${groups.filter((other) => isNeeded(other) && !isLabelled(other)).length} to go`;
    if (dimension.answer === "text") return `Write: ${dimension.title}`;
    return dimension.number ? `${dimension.title}: type ${dimension.number_words}` : `Choose: ${dimension.title}`;
  }
}
