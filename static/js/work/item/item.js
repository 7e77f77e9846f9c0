// One item and what has been answered about it. Everything it knows of the task comes from the payload; what the page
// shows follows the answers, never the other way round.

import { createText } from "../texts/text.js";
import { createAnswering } from "./answering.js";
import { createMarking } from "./marking.js";
import { createMoves } from "./moving.js";
import { createQuestions } from "./questions.js";
import { createRecords, firstMissing } from "./records.js";
import { createSpans } from "./spans.js";
import { createState } from "./state.js";
import { createSuggestions } from "./suggestions.js";
import { createTimer } from "./timer.js";
import { createView } from "./view.js";
import { createWriting } from "./writing.js";

/**
 * `node` is the item's <article>, `payload` its description. `onChange()` is called after every change by the person,
 * `onPainted(item)` when the browser has first painted a suggestion.
 */
export function createItem(node, payload, onChange, onPainted) {
  const texts = new Map([...node.querySelectorAll("[data-field]")].map((element) => [element.dataset.field, createText(element)]));
  const questions = createQuestions(node, payload, [...texts.keys()]);
  const item = {
    node, payload, texts,
    timer: createTimer(),
    shownAt: null,
    stage: "open", // open | waiting (for the suggestions that follow the first answer) | review | sent
    revision: payload.revision ?? 0,
    suggestions: payload.suggestions ?? [],
    suggestionsShownAt: null, // when the browser first painted one of them
    caretAt: null, // {field, start, end}: where the caret was last
  };

  let shown = null; // made from the item, once it has all its parts
  const view = () => shown;
  function changed() {
    shown.render();
    onChange();
  }
  const spans = createSpans(texts);
  const state = createState(questions, changed);
  const writing = createWriting(node, {
    changed: onChange,
    written: (words) => words !== state.now().words && state.change({ words }),
  });
  const moves = createMoves(questions, state, (from, to) => shown.moved(from, to), () => shown.render());
  const parts = { item, questions, state, spans, writing, moves, view };
  const { groups, groupOf, groupsOf, isMany, ownLabels, severities, spanFields, titleOf } = questions;

  Object.assign(item, moves, createSuggestions(parts), createAnswering(parts), createMarking(parts), createRecords(parts), {
    groups, groupOf, groupsOf, isMany, ownLabels, severities, spanFields, titleOf,
    isAsked: state.isAsked,
    label: state.label,
    picks: state.picks,
    spansOf: state.spans,
    utf16: spans.utf16,
    missing: () => firstMissing(parts),
    showWordsError: writing.showError,
    render: () => shown.render(),
    showOnlyCurrent: () => shown.showOnlyCurrent(),
    setCaret(next) {
      item.caretAt = next ?? item.caretAt;
      shown.setCaret(next);
    },
    /** Take back one step. Returns the group that it was about, or null when there is nothing to take back. */
    undo: () => stepped(state.undo()),
    /** Do again what was taken back last. */
    redo: () => stepped(state.redo()),
  });

  /** Shows the state after a step; `left` is the one before. */
  function stepped(left) {
    if (!left) return null;
    const now = state.now();
    if (left.words !== now.words) writing.putWords(now.words);
    changed();
    return groups.find(({ key }) => left.labels[key] !== now.labels[key] || left.spans[key] !== now.spans[key]) ?? moves.current();
  }

  shown = createView(item, () => {
    item.suggestionsShownAt = new Date().toISOString();
    onPainted(item);
  });
  if (payload.answers?.length || payload.free_text_answer) item.fill(payload.answers, payload.comment ?? "", payload.free_text_answer ?? "");
  if (item.revision > 0) item.markSent();
  if (writing.comment()) writing.openComment();
  for (const group of groups) {
    for (const input of group.inputs) {
      if ("number" in input.dataset || "text" in input.dataset) {
        input.addEventListener("input", () => item.type(group, input.value));
        input.addEventListener("blur", state.stopTyping);
        if (input.type === "range") input.addEventListener("click", () => item.type(group, input.value)); // also where it stood there
      } else input.addEventListener("change", () => item.choose(group, input.value));
    }
  }
  shown.render();
  return item;
}
