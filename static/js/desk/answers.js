// People's answers to the item, under letters, and checkers' labels once they are asked for: by each question, in a list
// below them, and as marks in the texts.

import { one } from "../work/shell.js";

const make = (tag, more = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), more);
  element.append(...children);
  return element;
};

const severityIn = (made, { unit, dimension }, span) => {
  const group = made.groups.find((one) => one.unit === unit && one.dimension.slug === dimension);
  return (group && made.severities(group).find((known) => known.value === span.severity)?.title) ?? "";
};
/** Highlights of an answer, painted as those of the letter; `index` counts the letters. */
const layersOf = (made, judgement, letter, index) => judgement.spans
  .filter((span) => made.texts.has(span.field))
  .map((span) => ({ ...made.utf16(span), unit: judgement.unit, kind: "said", number: index + 1, letter, word: severityIn(made, judgement, span) }));

export const overlayOf = (made) => made.payload.said.flatMap(({ letter, judgements }, index) => judgements.flatMap((judgement) => layersOf(made, judgement, letter, index)));

function colour(entry, index) {
  entry.style.setProperty("--own-line", `var(--aspect-${(index % 20) + 1}-line)`);
  entry.dataset.pattern = index % 4;
}

// Not the letter alone: outputs have letters, too.
const nameOf = (made, letter) => `Annotator ${letter}${made.names[letter] ? ` (${made.names[letter]})` : ""}`;

/** Each question's labels below it, and below them all comments, with a button that uses an answer. */
export function showAnswers(made) {
  const { payload, node } = made;
  for (const old of node.querySelectorAll("ul.said")) old.remove();
  for (const group of made.groups) {
    const line = make("ul", { className: "said" });
    payload.said.forEach(({ letter, judgements, is_late: isLate }, index) => {
      const judgement = judgements.find(({ unit, dimension }) => unit === group.unit && dimension === group.dimension.slug);
      const before = payload.revised.find((other) => other.letter === letter && other.unit === group.unit && other.dimension === group.dimension.slug);
      if (!judgement && !before) return;
      const entry = make("li", {}, make("b", { textContent: nameOf(made, letter) }), ": ", judgement ? made.titleOf(group, judgement.label) : "not asked");
      colour(entry, index);
      if (before) entry.append(" ", make("span", { className: "muted", textContent: `at the decision: ${before.label ? made.titleOf(group, before.label) : "not asked"}` }));
      if (judgement?.spans.length) entry.append(" ", make("span", { className: "muted", textContent: `${judgement.spans.length} highlight${judgement.spans.length > 1 ? "s" : ""}` }));
      if (isLate) entry.append(" ", make("span", { className: "badge", textContent: "late" }));
      line.append(entry);
    });
    if (payload.differing.some(({ unit, dimension }) => unit === group.unit && dimension === group.dimension.slug)) line.classList.add("differs");
    if (line.childElementCount) group.box.after(line);
  }
  const all = one("[data-said-all]", node);
  all.replaceChildren(make("p", { className: "take" }, payload.said.length ? "Use the answer of" : "", ...payload.said.map(({ letter }) => {
    const button = make("button", { type: "button", className: "small" }, `${nameOf(made, letter)} `, ...(letter.length === 1 ? [make("kbd", { textContent: `⇧${letter}` })] : []));
    button.dataset.do = "take";
    button.dataset.letter = letter;
    button.setAttribute("aria-label", `Use the answer of ${nameOf(made, letter)}`);
    return button;
  })));
  for (const { letter, comment, words } of payload.said) {
    for (const text of [words, comment]) if (text) all.append(make("p", {}, make("b", { textContent: nameOf(made, letter) }), ": ", make("span", { textContent: text, dir: "auto" })));
  }
  if (payload.revised.length) all.append(make("p", {}, `${payload.revised.length} answer${payload.revised.length > 1 ? "s" : ""} changed after the decision.`));
  if (payload.outcome) all.append(make("p", {}, "Decided: ", make("b", { textContent: payload.outcome })));
  if (payload.improbable !== null) all.append(make("p", {}, make("b", { textContent: "Improbable" }), `: a model of the annotators gives the least certain label a posterior of ${payload.improbable}`));
  for (const { reason, is_flag: isFlag } of payload.skips) all.append(make("p", {}, make("b", { textContent: isFlag ? "Flagged" : "Skipped" }), reason ? ": " : "", make("span", { textContent: reason, dir: "auto" })));
}

/** Checkers' labels, under small letters that follow people's, with what they quote marked in the texts. */
export function showSuggestions(made, suggestions) {
  const { payload, node } = made;
  const letters = [...new Set(suggestions.map(({ letter }) => letter))].sort();
  const indexOf = (letter) => payload.said.length + letters.indexOf(letter);
  const box = one("[data-checkers]", node);
  box.replaceChildren(...suggestions.map(({ unit, dimension, title, score, letter, checker, explanation, spans }) => {
    const group = made.groups.find((candidate) => candidate.unit === unit && candidate.dimension.slug === dimension);
    const number = payload.units.length > 1 ? `number ${group?.number}, ` : "";
    const words = (...content) => make("span", { className: "small muted reasons", dir: "auto" }, ...content);
    const entry = make("p", {}, make("b", { textContent: letter }), " ", make("span", { className: "badge machine", textContent: checker }), ` ${number}${group?.dimension.title ?? dimension}: `, make("b", { textContent: title }), score === null ? "" : ` ${score.toFixed(2)}`, ...(explanation ? [words(explanation)] : []), ...spans.map(({ quote }) => words(make("q", { textContent: quote }))));
    colour(entry, indexOf(letter));
    return entry;
  }));
  if (!suggestions.length) box.textContent = "No checker has labelled this item.";
  made.overlay = [...made.overlay.filter(({ letter }) => !letters.includes(letter)), ...suggestions.flatMap((one) => layersOf(made, one, one.letter, indexOf(one.letter)))];
  made.render();
}
