// One item and what has been answered about it: labels, spans, words, undo. Everything it knows of the task comes from
// the payload; what the page shows follows the answers, never the other way round. States are never changed in place:
// undo keeps the earlier ones, and what is the same object as before need not be shown anew.

import { createText } from "./texts/text.js";
import { chosenIn, createView, NONE_CHOSEN, SEPARATOR } from "./view.js";

const MAX_SPANS = 1000; // per judgement, as on the server
const keyOf = (unit, dimension) => `${unit}\n${dimension}`;
const same = (a, b) => a.field === b.field && a.start === b.start && a.end === b.end && a.label === b.label;
const NONE = [];

/** A number as it is stored; undefined for what is none in the range. */
function numberIn({ least, most, step }, text) {
  const value = Number(text);
  const stored = String(value === 0 ? 0 : value);
  if (!text.trim() || !Number.isFinite(value) || stored.includes("e")) return undefined;
  if ((least !== null && value < least) || (most !== null && value > most)) return undefined;
  if (step === null) return stored;
  const start = least ?? 0;
  // Bounds and steps have six decimals at most; floats may be off behind these.
  return Number((start + Math.round((value - start) / step) * step).toFixed(6)) === value ? stored : undefined;
}

/**
 * `node` is the item's <article>, `payload` its description. `onChange()` is called after every change by the person,
 * `onPainted(item)` when the browser has first painted a suggestion.
 */
export function createItem(node, payload, onChange, onPainted) {
  const find = (selector) => node.querySelector(selector);
  const texts = new Map([...node.querySelectorAll("[data-field]")].map((element) => [element.dataset.field, createText(element)]));
  const order = new Map([...texts.keys()].map((field, index) => [field, index]));
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
  // The groups about which the page was told what is suggested: at first, those that the stored answer is about.
  const told = new Set((payload.answers ?? []).map(({ unit, dimension }) => keyOf(unit, dimension)));
  const isConditional = payload.dimensions.some((dimension) => dimension.asked_when);
  const isMany = payload.units.length > 1;
  const ofOptional = new Set(payload.optional_units ?? NONE); // units that may stay without an answer

  let state = { labels: {}, spans: {}, words: "" }; // by group; words answer the free-text question
  let past = [];
  let settled = null; // {state, comment, words} as they were sent or stored last; null before the first answer
  let current = 0;
  let latest = null; // the unit labelled just now, from which the page moved on by itself; null once another one is chosen
  const comment = find("[data-comment]");
  const words = find("[data-free-text]");
  const kept = [...node.querySelectorAll("[data-kept]")]; // further controls of the page, which drafts hold by name
  const item = {
    node, payload, groups, texts,
    timer: createTimer(),
    shownAt: null,
    stage: "open", // open | waiting (for the suggestions that follow the first answer) | review | sent
    revision: payload.revision ?? 0,
    suggestions: payload.suggestions ?? [],
    suggestionsShownAt: null, // when the browser first painted one of them
    caretAt: null, // {field, start, end}: where the caret was last
  };

  const labelOf = (group) => state.labels[group.key];
  const titleOf = (group, answer) => chosenIn(group.dimension, answer).map((value) => group.dimension.labels.find((label) => label.value === value)?.title ?? value).join(", ");
  const conditionOf = (group) => group.dimension.asked_when && keyOf(group.unit, group.dimension.asked_when.dimension);
  const isAsked = (group) => !group.dimension.asked_when
    || chosenIn(byKey.get(conditionOf(group)).dimension, state.labels[conditionOf(group)]).some((value) => group.dimension.asked_when.labels.includes(value));
  const isOptional = ({ unit, dimension }) => dimension.optional || (ofOptional.has(unit) && !ofUnit.get(unit).some((group) => group.key in state.labels));
  const mayCarry = (group, answer = labelOf(group)) => {
    const rule = group.dimension.spans;
    return rule && (!rule.labels?.length || chosenIn(group.dimension, answer).some((value) => rule.labels.includes(value)));
  };
  /** The answer that holds one label more, or one less; undefined where nothing is left. None of them is an answer, too. */
  const toggled = ({ dimension }, answer, value) => {
    if (value === NONE_CHOSEN) return answer === value ? undefined : value;
    const chosen = new Set(chosenIn(dimension, answer));
    chosen.delete(NONE_CHOSEN);
    if (!chosen.delete(value)) chosen.add(value);
    return dimension.scale.filter((one) => chosen.has(one)).join(SEPARATOR) || undefined;
  };
  /** Names of the texts that a group's spans may lie in; one that ends in * stands for all that begin so. */
  const takes = (dimension, name) => dimension.spans?.fields.some((field) => (field.endsWith("*") ? name.startsWith(field.slice(0, -1)) : field === name)) ?? false;
  const fieldsOf = new Map(payload.dimensions.map((dimension) => [dimension, [...texts.keys()].filter((name) => takes(dimension, name))]));
  const suggestionFor = (group) => item.suggestions.find((one) => one.unit === group.unit && one.dimension === group.dimension.slug);
  const named = (label) => (label ? { label } : {}); // where highlights have labels of their own
  const codePoints = ({ field, start, end, label }) => {
    const { text, toCodePoints } = texts.get(field);
    return { field, start: toCodePoints(start), end: toCodePoints(end), quote: text.slice(start, end), ...named(label) };
  };
  const utf16 = ({ field, start, end, label }) => {
    const own = texts.get(field);
    return { field, start: own?.toUtf16(start) ?? 0, end: own?.toUtf16(end) ?? 0, ...named(label) };
  };
  const before = (a, b) => order.get(a.field) - order.get(b.field) || a.start - b.start || a.end - b.end || (a.label ?? "").localeCompare(b.label ?? "");
  /** Labels that a group's highlights may have; none where they have none of their own. */
  const ownLabels = (group) => group.dimension.spans?.own_labels ?? NONE;
  const fits = (group, { label }) => (ownLabels(group).length ? ownLabels(group).some((one) => one.value === label) : label === undefined);
  const spansOf = (group) => state.spans[group.key] ?? NONE;
  const withSpans = (key, list) => ({ spans: { ...state.spans, [key]: list } });

  let typed = null; // the group whose number or text is being typed: all of it is one step back
  /** Every change goes through here: remembered for undo, then shown. `next` holds what differs. */
  function change(next, of = null) {
    if (of === null || of !== typed) past.push(state);
    typed = of;
    state = { ...state, ...next };
    if (isConditional && groups.some((group) => group.key in state.labels && !isAsked(group))) {
      state = { ...state, labels: { ...state.labels } };
      for (const group of groups) if (!isAsked(group)) delete state.labels[group.key];
    }
    changed();
  }

  function changed() {
    view.render();
    onChange();
  }

  /** Why a group takes no highlight now; empty when it does. */
  function refusal(group) {
    const label = labelOf(group);
    const { title, labels, asked_when: condition } = group.dimension;
    if (!isAsked(group) && conditionOf(group) in state.labels) {
      const asked = byKey.get(conditionOf(group));
      return `${title} is not asked after “${titleOf(asked, state.labels[asked.key])}”`;
    }
    if (condition && !isAsked(group)) return "";
    if (label !== undefined && !mayCarry(group)) {
      const able = labels.filter((one) => mayCarry(group, one.value)).map((one) => `“${one.title}” (${one.key})`);
      return `“${titleOf(group, label)}” takes no highlight: choose ${able.join(" or ")} first`;
    }
    return spansOf(group).length >= MAX_SPANS ? `At most ${MAX_SPANS} highlights fit` : "";
  }

  /** The label that a first highlight brings along: the only one that may carry any. */
  function labelFrom(group) {
    const rule = group.dimension.spans;
    return labelOf(group) === undefined && isAsked(group) && rule.labels?.length === 1 ? rule.labels[0] : undefined;
  }

  /** What an answer says about a group: highlights only under a label that carries them. */
  const carried = ({ labels, spans }, group) => (labels[group.key] !== undefined && mayCarry(group, labels[group.key]) ? spans[group.key] ?? NONE : NONE);
  const saysSame = (one, other, group) => {
    const [a, b] = [carried(one, group), carried(other, group)];
    return one.labels[group.key] === other.labels[group.key] && (a === b || (a.length === b.length && a.every((span, index) => same(span, b[index]))));
  };

  const isWhole = (group, { field, start, end }) => group.dimension.spans.takes_whole_texts && start === 0 && end === texts.get(field)?.text.length;

  Object.assign(item, {
    isAsked, isMany, mayCarry, spansOf, suggestionFor, isWhole, utf16, titleOf,
    label: labelOf,
    spanFields: (group) => fieldsOf.get(group.dimension),
    /** Highlights that are kept but not sent, since the label does not carry them. */
    isOff: (group) => (isAsked(group) ? labelOf(group) !== undefined && !mayCarry(group) : conditionOf(group) in state.labels),
    render: () => view.render(),
    current: () => groups[current],
    /** The page moved on from a group that was just labelled. Its next highlight is for that unit, unless it was marked before. */
    movedOn({ unit }) {
      const isMarked = ofUnit.get(unit).some((group) => spansOf(group).length);
      latest = unit === groups[current].unit || isMarked ? null : unit;
    },
    /** The person chose the current unit. */
    chose() {
      if (latest === null) return;
      latest = null;
      view.render();
    },
    /** The unit that the next highlight is about. */
    spanUnit: () => latest ?? groups[current].unit,
    /** Mark a group as the one that digits answer. Returns false when it is not asked. */
    setCurrent(group) {
      if (!group || !isAsked(group)) return false;
      if (current === group.index && group.box.classList.contains("is-current")) return true;
      const from = groups[current];
      current = group.index;
      view.moved(from, group);
      return true;
    },
    /** Whether it says anything else than what was sent or stored last. */
    isChanged: () => !settled || item.comment() !== settled.comment.trim() || item.freeText() !== settled.words.trim()
      || !(state === settled.state || groups.every((group) => saysSame(state, settled.state, group))),
    isSettled: () => settled !== null,
    /** As it stands it is on its way or stored. */
    settle() {
      settled = { state, comment: comment?.value ?? "", words: words?.value ?? "" };
    },
    /** Back to what was sent or stored last. */
    revert() {
      past = [];
      state = settled.state;
      if (comment) comment.value = settled.comment;
      if (words) words.value = settled.words;
      item.showWordsError("");
      view.render();
    },
    groupOf: (element) => byBox.get(element),
    groupsOf: (unit) => ofUnit.get(unit) ?? NONE,
    neighbour(direction) {
      for (let i = current + direction; i >= 0 && i < groups.length; i += direction) if (isAsked(groups[i])) return groups[i];
      return null;
    },
    /** The next group without an answer, from the current one on and around; null when there is none. */
    unanswered() {
      const isOpen = (group) => isAsked(group) && !isOptional(group) && labelOf(group) === undefined;
      return groups.slice(current + 1).find(isOpen) ?? groups.slice(0, current).find(isOpen) ?? null;
    },
    choose(group, value) {
      if (!isAsked(group)) return;
      latest = null;
      const labels = { ...state.labels };
      if (group.dimension.answer === "labels") labels[group.key] = toggled(group, labelOf(group), value);
      else if (labelOf(group) === value) return;
      else labels[group.key] = value;
      if (labels[group.key] === undefined) delete labels[group.key];
      change({ labels });
    },
    /** The number or the text as it stands in its field; what is none of the question's is no answer yet. */
    type(group, text) {
      if (!isAsked(group)) return;
      const labels = { ...state.labels };
      const value = group.dimension.number ? numberIn(group.dimension.number, text) : text.trim() || undefined;
      if (value === undefined) delete labels[group.key];
      else labels[group.key] = value;
      change({ labels }, group.key);
    },
    /** Take over judgements as somebody else sent them, of units that these are about; one step back undoes it. */
    adopt(judgements) {
      const [labels, spans] = [{ ...state.labels }, { ...state.spans }];
      const about = new Set(judgements.map(({ unit }) => unit));
      for (const group of groups) if (about.has(group.unit)) {
        delete labels[group.key];
        delete spans[group.key];
      }
      for (const judgement of judgements) {
        const key = keyOf(judgement.unit, judgement.dimension);
        if (!byKey.has(key)) continue;
        labels[key] = judgement.label;
        const fitting = judgement.spans.filter((span) => texts.has(span.field) && takes(byKey.get(key).dimension, span.field));
        if (fitting.length) spans[key] = fitting.map(utf16).sort(before);
      }
      change({ labels, spans });
    },
    accept(group) {
      const suggestion = suggestionFor(group);
      if (!suggestion || !isAsked(group)) return false;
      const offered = mayCarry(group, suggestion.label) ? (suggestion.spans ?? NONE).map(utf16) : NONE;
      const added = offered.filter((span) => takes(group.dimension, span.field) && fits(group, span) && !spansOf(group).some((other) => same(other, span)));
      change({
        labels: { ...state.labels, [group.key]: suggestion.label },
        ...(added.length ? withSpans(group.key, [...spansOf(group), ...added].sort(before)) : {}),
      });
      return true;
    },
    /** The group of a unit (by default the one that highlights are about) whose spans may lie in a field; the current first. */
    groupFor(field, unit = item.spanUnit()) {
      const able = item.groupsOf(unit).filter((group) => takes(group.dimension, field));
      return able.find((group) => group.index === current) ?? able[0] ?? null;
    },
    /** The texts in which the next highlight may lie, in the order of the page. */
    spanTexts() {
      const names = new Set(item.groupsOf(item.spanUnit()).flatMap((group) => fieldsOf.get(group.dimension)));
      return [...texts].filter(([name, text]) => names.has(name) && !text.isEmpty).map(([, text]) => text);
    },
    ownLabels,
    /** Names a group's unit at the end of a message, where there are several. */
    nameOf: (group) => (isMany ? ` for number ${group.number}` : ""),
    /** Asks which unit is meant where the one labelled just now takes no highlight; the next try is about the current one. */
    whyAnother(group) {
      const why = group.unit === latest && refusal(group);
      if (!why) return "";
      item.chose();
      return `Number ${group.number}: ${why.split(":")[0]}. Press h or mark it again for number ${groups[current].number}`;
    },
    /** Adds a highlight, with a label where they have some. Returns why it does not, or nothing. */
    addSpan(group, { field, start, end, label: own }) {
      const span = { field, start, end, ...named(own) };
      const why = refusal(group);
      if (why) return why;
      if (!fits(group, span)) return "This highlight needs a label";
      if (spansOf(group).some((other) => same(other, span))) return "This is highlighted already";
      const label = labelFrom(group);
      change({
        ...withSpans(group.key, [...spansOf(group), span].sort(before)),
        ...(label ? { labels: { ...state.labels, [group.key]: label } } : {}),
      });
      return "";
    },
    removeSpan(group, span) {
      change(withSpans(group.key, spansOf(group).filter((other) => other !== span)));
    },
    /** The texts that can be highlighted as a whole, in the order of the page: the first is number 1. */
    wholeTexts() {
      const groupsHere = item.groupsOf(item.spanUnit()).filter((group) => group.dimension.spans?.takes_whole_texts);
      return [...texts].filter(([name]) => groupsHere.some((group) => takes(group.dimension, name))).map(([, text]) => text);
    },
    /** Name a whole text as what decided, or take that back. Returns what to say, and whether it was done. */
    toggleWhole(text) {
      const { field } = text.element.dataset;
      const group = item.groupsOf(item.spanUnit()).find((one) => one.dimension.spans?.takes_whole_texts && takes(one.dimension, field));
      if (!group) return { isDone: false, words: "This task has no highlights of whole passages" };
      if (text.isEmpty) return { isDone: false, words: `${text.title} is empty` };
      const whole = spansOf(group).find((span) => span.field === field && isWhole(group, span));
      if (whole) {
        item.removeSpan(group, whole);
        return { isDone: true, words: `${text.title} is no longer highlighted${item.nameOf(group)}` };
      }
      const why = item.whyAnother(group) || item.addSpan(group, { field, start: 0, end: text.text.length });
      return { isDone: !why, words: why || `All of ${text.title.toLowerCase()} is highlighted${item.nameOf(group)}` };
    },
    setCaret(next) {
      item.caretAt = next ?? item.caretAt;
      view.setCaret(next);
    },
    showOnlyCurrent: () => view.showOnlyCurrent(),
    /** Take back one step. Returns the group that it was about, or null when there is nothing to take back. */
    undo() {
      if (!past.length) return null;
      const from = state;
      state = past.pop();
      if (words && from.words !== state.words) words.value = state.words;
      changed();
      return groups.find((group) => from.labels[group.key] !== labelOf(group) || from.spans[group.key] !== state.spans[group.key]) ?? groups[current];
    },
    /** Whether one of the suggestions is about a question that is asked now: the others are not shown yet. */
    hasSuggestion: () => groups.some((group) => isAsked(group) && suggestionFor(group)),
    /** When a suggestion was painted first, the last frame included; null where none was. */
    paintedAt() {
      view.lookAgain();
      return item.suggestionsShownAt;
    },
    /** Groups that are asked only after another answer, and are now: the suggestions about them are not here yet. */
    withheld: () => (isConditional ? groups.filter((group) => group.dimension.asked_when && isAsked(group) && !told.has(group.key)) : NONE),
    /** The answer after which such a group is asked. */
    condition({ unit, dimension }) {
      const { dimension: on } = dimension.asked_when;
      return { unit, dimension: on, label: state.labels[keyOf(unit, on)] };
    },
    /** Suggestions that came after the page: all that there are about the units' dimensions `about`, which were asked. */
    suggest(suggestions, about) {
      for (const { unit, dimension } of about) told.add(keyOf(unit, dimension));
      const isHeld = (one) => item.suggestions.some((held) => held.unit === one.unit && held.dimension === one.dimension);
      item.suggestions = [...item.suggestions, ...suggestions.filter((one) => !isHeld(one))];
      view.render();
    },
    /** What is missing first: its group (or element) and what to say about it; null when everything is there. */
    missing() {
      for (const group of groups) {
        if (!isAsked(group) || (isOptional(group) && !(group.key in state.labels))) continue;
        if (!(group.key in state.labels) && group.dimension.answer === "text" && !isMany) return { group, message: `Write: ${group.dimension.title}` };
        if (!(group.key in state.labels) && group.dimension.number && !isMany) {
          return { group, message: `${group.dimension.title}: type ${group.dimension.number_words}` };
        }
        if (!(group.key in state.labels)) {
          const left = groups.filter((other) => isAsked(other) && !isOptional(other) && !(other.key in state.labels)).length;
          return { group, message: isMany ? `${left} to go` : `Choose: ${group.dimension.title}` };
        }
        // Nothing can be required of a page that has no text to mark.
        const takesSpans = mayCarry(group) && fieldsOf.get(group.dimension).some((name) => !texts.get(name).isEmpty);
        if (group.dimension.spans?.required && takesSpans && !spansOf(group).length) {
          return { group, message: isMany ? `Number ${group.number} is “${titleOf(group, labelOf(group))}”: highlight where` : "Highlight what made you decide" };
        }
      }
      if (payload.free_text?.required && words && !words.value.trim()) return { element: words, message: `Write: ${payload.free_text.title}` };
      return null;
    },
    judgements: () => groups.filter((group) => group.key in state.labels && isAsked(group)).map((group) => ({
      unit: group.unit,
      dimension: group.dimension.slug,
      label: labelOf(group),
      spans: mayCarry(group) ? spansOf(group).map(codePoints) : [],
    })),
    /** Whether anything has been said about it. */
    isBegun: () => Boolean(Object.keys(state.labels).length || Object.values(state.spans).some((list) => list.length) || comment?.value || words?.value),
    comment: () => comment?.value.trim() ?? "",
    freeText: () => words?.value.trim() ?? "",
    draft: () => ({
      labels: state.labels, spans: state.spans, comment: comment?.value ?? "", free_text: words?.value ?? "",
      shown_at: item.shownAt, active_ms: item.timer.total(), text_hash: payload.text_hash, revision: item.revision, basis: payload.basis,
      more: Object.fromEntries(kept.map((control) => [control.dataset.kept, control.type === "checkbox" ? control.checked : control.value])),
    }),
    /** Take over a draft; spans only while the text is the one that they were made on. */
    restore(draft) {
      const labels = Object.entries(draft.labels ?? {}).filter(([key, answer]) => byKey.has(key)
        && (byKey.get(key).dimension.answer === "text" || (byKey.get(key).dimension.number ? numberIn(byKey.get(key).dimension.number, answer) === answer : chosenIn(byKey.get(key).dimension, answer).every((value) => byKey.get(key).dimension.labels.some((label) => label.value === value)))));
      const spans = Object.entries(draft.text_hash === payload.text_hash ? draft.spans ?? {} : {}).filter(([key]) => byKey.has(key));
      state = { labels: Object.fromEntries(labels), spans: Object.fromEntries(spans), words: draft.free_text ?? "" };
      if (comment) comment.value = draft.comment ?? "";
      if (words) words.value = state.words;
      for (const control of kept) control[control.type === "checkbox" ? "checked" : "value"] = draft.more?.[control.dataset.kept] ?? "";
      if (comment?.value || draft.more?.reason) find("[data-comment-box]").open = true;
      item.shownAt = draft.shown_at ?? item.shownAt;
      item.timer.restore(draft.active_ms ?? 0);
      view.render();
    },
    /** Take over judgements as they are sent and stored, in place of what was there. */
    fill(judgements, remark = "", said = "") {
      state = { labels: {}, spans: {}, words: said };
      for (const judgement of judgements ?? []) {
        const key = keyOf(judgement.unit, judgement.dimension);
        if (!byKey.has(key)) continue;
        state.labels[key] = judgement.label;
        if (judgement.spans?.length) state.spans[key] = judgement.spans.map(utf16).sort(before);
      }
      if (comment) comment.value = remark;
      if (words) words.value = said;
    },
    /** What the server said about the words of an answer that it did not take. */
    showWordsError(message) {
      const line = find("[data-free-text-error]");
      if (!line) return;
      line.textContent = message;
      line.hidden = !message;
      words.toggleAttribute("aria-invalid", false);
      if (message) words.setAttribute("aria-invalid", "true");
    },
  });

  const view = createView(item, () => {
    item.suggestionsShownAt = new Date().toISOString();
    onPainted(item);
  });
  if (payload.answers?.length || payload.free_text_answer) item.fill(payload.answers, payload.comment ?? "", payload.free_text_answer ?? "");
  if (item.revision > 0) item.settle();
  if (comment?.value) find("[data-comment-box]").open = true;
  for (const group of groups) {
    for (const input of group.inputs) {
      if ("number" in input.dataset || "text" in input.dataset) {
        input.addEventListener("input", () => item.type(group, input.value));
        input.addEventListener("blur", () => (typed = null));
      } else input.addEventListener("change", () => item.choose(group, input.value));
    }
  }
  comment?.addEventListener("input", onChange);
  for (const control of kept) control.addEventListener("change", onChange);
  words?.addEventListener("input", () => {
    item.showWordsError("");
    onChange();
  });
  // While somebody writes, the box has an undo of its own; what was written becomes one step when it is left.
  words?.addEventListener("change", () => words.value !== state.words && change({ words: words.value }));
  view.render();
  return item;
}

// ---- active time: while the page is visible and somebody moves or types; a pause counts for 60 seconds at most ----

const IDLE_MS = 60000;
const running = new Set();

function createTimer() {
  let total = 0;
  let last = null; // the latest sign of life; null while stopped
  const since = () => (last === null ? 0 : Math.min(performance.now() - last, IDLE_MS));
  const settle = (next) => {
    total += since();
    last = next;
  };
  const timer = {
    start() {
      running.add(timer);
      settle(document.hidden ? null : performance.now());
    },
    stop() {
      running.delete(timer);
      settle(null);
    },
    alive: () => settle(performance.now()),
    pause: () => settle(null),
    total: () => Math.round(total + since()),
    reset() {
      total = 0;
    },
    restore(milliseconds) {
      total = Math.max(total, milliseconds);
    },
  };
  return timer;
}

for (const event of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
  document.addEventListener(event, () => document.hidden || running.forEach((timer) => timer.alive()), { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => {
  for (const timer of running) document.hidden ? timer.pause() : timer.alive();
});
