// Answering the questions of an item: by choosing, by typing, by a suggestion, or by another person's answer.

import { CANNOT_JUDGE, isPossible, keyOf, numberIn, pickedAfter, toggled } from "./questions.js";
import { isSame } from "./spans.js";

const NONE = [];

export function createAnswering({ item, questions, state, spans, moves, view }) {
  const { groups, byKey, fits, mayCarry, takes } = questions;

  /** A text more of a ranking, or one less; of a complete one the first of another. */
  function pick(group, value, labels) {
    const after = pickedAfter(group.dimension, state.label(group) === undefined ? state.picks(group) : "", value);
    if (!after) return view().again(group);
    delete labels[group.key];
    if (after.label !== undefined) labels[group.key] = after.label;
    state.change({ labels, picks: { ...state.now().picks, [group.key]: after.picks } });
  }

  return {
    choose(group, value) {
      if (!state.isAsked(group)) return;
      moves.forgetLatest();
      const labels = { ...state.now().labels };
      if (value === CANNOT_JUDGE) labels[group.key] = state.label(group) === value ? undefined : value;
      else if (group.picks.length) return pick(group, value, labels);
      else if (group.dimension.answer === "labels") labels[group.key] = toggled(group.dimension, state.label(group), value);
      else if (state.label(group) === value) return;
      else labels[group.key] = value;
      if (labels[group.key] === undefined) delete labels[group.key];
      state.change({ labels });
    },
    /** The number or the text as it stands in its field; what is none of the question's is no answer yet. */
    type(group, text) {
      if (!state.isAsked(group)) return;
      const labels = { ...state.now().labels };
      const value = group.dimension.number ? numberIn(group.dimension.number, text) : text.trim() || undefined;
      if (value === undefined) delete labels[group.key];
      else labels[group.key] = value;
      state.change({ labels }, group.key);
    },
    /** Use another person's judgements of units that these are about; one step back undoes it. */
    adopt(judgements) {
      const [labels, marked] = [{ ...state.now().labels }, { ...state.now().spans }];
      const about = new Set(judgements.map(({ unit }) => unit));
      for (const group of groups) if (about.has(group.unit)) {
        delete labels[group.key];
        delete marked[group.key];
      }
      for (const judgement of judgements) {
        const key = keyOf(judgement.unit, judgement.dimension);
        if (!byKey.has(key) || !isPossible(byKey.get(key).dimension, judgement.label)) continue;
        labels[key] = judgement.label;
        const fitting = judgement.spans.filter((span) => item.texts.has(span.field) && takes(byKey.get(key), span.field));
        if (fitting.length) marked[key] = fitting.map(spans.utf16).sort(spans.inOrder);
      }
      state.change({ labels, spans: marked });
    },
    accept(group) {
      const suggestion = item.suggestionFor(group);
      if (!suggestion || !state.isAsked(group)) return false;
      const offered = mayCarry(group, suggestion.label) ? (suggestion.spans ?? NONE).map(spans.utf16) : NONE;
      const added = offered.filter((span) => takes(group, span.field) && fits(group, span) && !state.spans(group).some((other) => isSame(other, span)));
      state.change({
        labels: { ...state.now().labels, [group.key]: suggestion.label },
        ...(added.length ? state.withSpans(group, [...state.spans(group), ...added].sort(spans.inOrder)) : {}),
      });
      return true;
    },
  };
}
