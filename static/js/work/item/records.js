// An item's answers as they are sent, stored and kept as a draft, what differs from what was sent last, and what is still
// missing.

import { isPossible, keyOf } from "./questions.js";
import { isEqual } from "./spans.js";
import { gettext } from "../../words.js";

const NONE = [];

export function createRecords({ item, questions, state, spans, writing, view }) {
  const { groups, byKey, mayCarry } = questions;
  let sent = null; // {state, comment, words} as they were sent or stored last; null before the first answer

  /** What an answer says about a group: highlights only under a label that carries them. */
  const carried = ({ labels, spans: marked }, group) => (labels[group.key] !== undefined && mayCarry(group, labels[group.key]) ? marked[group.key] ?? NONE : NONE);
  const saysSame = (one, other, group) => {
    const [a, b] = [carried(one, group), carried(other, group)];
    return one.labels[group.key] === other.labels[group.key] && (a === b || (a.length === b.length && a.every((span, index) => isEqual(span, b[index]))));
  };

  const records = {
    judgements: () => groups.filter((group) => state.label(group) !== undefined && state.isAsked(group)).map((group) => ({
      unit: group.unit,
      dimension: group.dimension.slug,
      label: state.label(group),
      spans: carried(state.now(), group).map(spans.codePoints),
    })),
    comment: () => writing.comment().trim(),
    freeText: () => writing.words().trim(),
    /** Whether anything has been answered or written. */
    isBegun() {
      const { labels, spans: marked } = state.now();
      return Boolean(Object.keys(labels).length || Object.values(marked).some((list) => list.length) || writing.comment() || writing.words());
    },
    /** Whether it says anything else than what was sent or stored last. */
    isChanged: () => !sent || records.comment() !== sent.comment.trim() || records.freeText() !== sent.words.trim()
      || !(state.now() === sent.state || groups.every((group) => saysSame(state.now(), sent.state, group))),
    wasSent: () => sent !== null,
    /** As it stands it is on its way or stored. */
    markSent() {
      sent = { state: state.now(), comment: writing.comment(), words: writing.words() };
    },
    /** Back to what was sent or stored last. */
    revert() {
      state.forgetPast();
      state.replace(sent.state);
      writing.putComment(sent.comment);
      writing.putWords(sent.words);
      writing.showError("");
      view().render();
    },
    /** Use judgements as they are sent and stored, in place of what was there. */
    fill(judgements, comment = "", words = "") {
      const next = { labels: {}, spans: {}, words };
      for (const judgement of judgements ?? []) {
        const key = keyOf(judgement.unit, judgement.dimension);
        if (!byKey.has(key)) continue;
        next.labels[key] = judgement.label;
        if (judgement.spans?.length) next.spans[key] = judgement.spans.map(spans.utf16).sort(spans.inOrder);
      }
      state.replace(next);
      writing.putComment(comment);
      writing.putWords(words);
    },
    draft: () => ({
      labels: state.now().labels, spans: state.now().spans, comment: writing.comment(), free_text: writing.words(),
      shown_at: item.shownAt, active_ms: item.timer.total(), text_hash: item.payload.text_hash, revision: item.revision, basis: item.payload.basis,
      more: writing.more(),
    }),
    /** Use a draft; spans only while the text is the one that they were made on. */
    restore(draft) {
      const labels = Object.entries(draft.labels ?? {}).filter(([key, answer]) => byKey.has(key) && isPossible(byKey.get(key).dimension, answer));
      const marked = Object.entries(draft.text_hash === item.payload.text_hash ? draft.spans ?? {} : {}).filter(([key]) => byKey.has(key));
      state.replace({ labels: Object.fromEntries(labels), spans: Object.fromEntries(marked), words: draft.free_text ?? "" });
      writing.putComment(draft.comment ?? "");
      writing.putWords(draft.free_text ?? "");
      writing.putMore(draft.more);
      if (writing.comment() || draft.more?.reason) writing.openComment();
      item.shownAt = draft.shown_at ?? item.shownAt;
      item.timer.restore(draft.active_ms ?? 0);
      view().render();
    },
  };
  return records;
}

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
      return { group, message: isMany ? gettext("Number {number} is “{label}”: highlight where", { number: group.number, label: titleOf(group, state.label(group)) }) : gettext("Highlight what made you decide") };
    }
  }
  const { free_text: freeText } = item.payload;
  if (freeText?.required && writing.element && !writing.words().trim()) return { element: writing.element, message: gettext("Write: {title}", { title: freeText.title }) };
  return null;

  function askFor({ dimension }) {
    if (isMany) return gettext("{n} to go", { n: groups.filter((other) => isNeeded(other) && !isLabelled(other)).length });
    if (dimension.answer === "text") return gettext("Write: {title}", { title: dimension.title });
    return dimension.number ? gettext("{title}: type {words}", { title: dimension.title, words: dimension.number_words }) : gettext("Choose: {title}", { title: dimension.title });
  }
}
