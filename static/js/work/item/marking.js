// Highlights of an item: where the next one may lie, why a question takes none, adding and removing.

import { keyOf } from "../keyboard.js";
import { isEqual, isSame } from "./spans.js";
import { gettext, inSentence } from "../../words.js";

const MAX_SPANS = 1000; // per judgement, as on the server

export function createMarking({ item, questions, state, spans, moves }) {
  const { texts } = item;
  const { byKey, conditionOf, fits, isMany, mayCarry, takes, titleOf } = questions;

  /** Why a group takes no highlight now; empty when it does. */
  function refusal(group) {
    const label = state.label(group);
    const { title, labels, asked_when: condition } = group.dimension;
    if (!state.isAsked(group) && conditionOf(group) in state.now().labels) {
      const asked = byKey.get(conditionOf(group));
      return gettext("{title} is not asked after “{label}”", { title, label: titleOf(asked, state.label(asked)) });
    }
    if (condition && !state.isAsked(group)) return "";
    if (label !== undefined && !mayCarry(group, label)) {
      const able = labels.filter((one) => mayCarry(group, one.value)).map((one) => `“${one.title}” (${one.key})`);
      const or = gettext(" or ");
      return gettext("“{label}” takes no highlight: choose {others} first", { label: titleOf(group, label), others: able.join(or) });
    }
    return state.spans(group).length >= MAX_SPANS ? gettext("At most {n} highlights are allowed", { n: MAX_SPANS }) : "";
  }

  /** The label that a first highlight brings along: the only one that may carry any. */
  function labelFrom(group) {
    const rule = group.dimension.spans;
    return state.label(group) === undefined && state.isAsked(group) && rule.labels?.length === 1 ? rule.labels[0] : undefined;
  }

  const groupsHere = () => questions.groupsOf(moves.spanUnit());

  const marking = {
    isWhole: (group, { field, start, end }) => group.dimension.spans.takes_whole_texts && start === 0 && end === texts.get(field)?.text.length,
    /** Highlights that are kept but not sent, since the label does not carry them. */
    isOff: (group) => (state.isAsked(group) ? state.label(group) !== undefined && !mayCarry(group, state.label(group)) : conditionOf(group) in state.now().labels),
    /** The group of a unit (by default the one that highlights are about) whose spans may lie in a field; the current first. */
    groupFor(field, unit = moves.spanUnit()) {
      const able = questions.groupsOf(unit).filter((group) => takes(group, field));
      return able.find((group) => group === moves.current()) ?? able[0] ?? null;
    },
    /** The texts in which the next highlight may lie, in the order of the page. */
    spanTexts() {
      const names = new Set(groupsHere().flatMap(questions.spanFields));
      return [...texts].filter(([name, text]) => names.has(name) && !text.isEmpty).map(([, text]) => text);
    },
    /** Names a group's unit at the end of a message, where there are several. */
    nameOf: (group) => (isMany ? ` ${gettext("for number {number}", { number: group.number })}` : ""),
    /** Asks which unit is meant where the one labelled just now takes no highlight; the next try is about the current one. */
    whyAnother(group) {
      const why = moves.isLatest(group.unit) && refusal(group);
      if (!why) return "";
      moves.chose();
      return gettext("Number {number}: {why}. Press {key} or mark it again for number {other}", { number: group.number, why: why.split(":")[0], key: keyOf("highlight"), other: moves.current().number });
    },
    /** Adds a highlight, with a label and a severity where they have some. Returns why it does not, or nothing. */
    addSpan(group, { field, start, end, ...more }) {
      const span = { field, start, end, ...spans.named(more) };
      const why = refusal(group);
      if (why) return why;
      if (!fits(group, span)) return gettext("This highlight needs a label");
      if (state.spans(group).some((other) => isSame(other, span))) return gettext("This is highlighted already");
      const label = labelFrom(group);
      state.change({
        ...state.withSpans(group, [...state.spans(group), span].sort(spans.inOrder)),
        ...(label ? { labels: { ...state.now().labels, [group.key]: label } } : {}),
      });
      return "";
    },
    /** Gives a highlight other ends, another label, severity or reason, in one step. Returns why it does not, or nothing, and the new one. */
    changeSpan(group, span, more) {
      const { field, start, end, ...own } = { ...span, ...more };
      const changed = { field, start, end, ...spans.named(own) };
      if (!fits(group, changed)) return { why: gettext("This highlight needs a label"), span };
      const others = state.spans(group).filter((other) => other !== span);
      if (others.some((other) => isSame(other, changed))) return { why: gettext("This is highlighted already"), span };
      if (!isEqual(span, changed)) state.change(state.withSpans(group, [...others, changed].sort(spans.inOrder)));
      return { why: "", span: isEqual(span, changed) ? span : changed };
    },
    removeSpan: (group, span) => state.change(state.withSpans(group, state.spans(group).filter((other) => other !== span))),
    /** The texts that can be highlighted as a whole, in the order of the page: the first is number 1. */
    wholeTexts() {
      const able = groupsHere().filter((group) => group.dimension.spans?.takes_whole_texts);
      return [...texts].filter(([name]) => able.some((group) => takes(group, name))).map(([, text]) => text);
    },
    /** Name a whole text as what decided, or take that back. Returns what to say, and whether it was done. */
    toggleWhole(text) {
      const { field } = text.element.dataset;
      const group = groupsHere().find((one) => one.dimension.spans?.takes_whole_texts && takes(one, field));
      if (!group) return { isDone: false, words: gettext("This task has no highlights of whole passages") };
      if (text.isEmpty) return { isDone: false, words: gettext("{title} is empty", { title: text.title }) };
      const whole = state.spans(group).find((span) => span.field === field && marking.isWhole(group, span));
      if (whole) {
        marking.removeSpan(group, whole);
        return { isDone: true, words: gettext("{title} is no longer highlighted", { title: text.title }) + marking.nameOf(group) };
      }
      const why = marking.whyAnother(group) || marking.addSpan(group, { field, start: 0, end: text.text.length });
      return { isDone: !why, words: why || gettext("All of {title} is highlighted", { title: inSentence(text.title) }) + marking.nameOf(group) };
    },
  };
  return marking;
}
