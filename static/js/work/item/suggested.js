// The line of a suggestion below its question, and the choice that it stands for.

import { chosenIn } from "./labels.js";

const make = (tag, more) => Object.assign(document.createElement(tag), more);

/** Shows a group's suggestion, or none. Returns the elements that show it. */
export function showSuggestion(item, group, suggestion) {
  const line = group.box.querySelector("[data-suggestion]");
  if (!line) return [];
  for (const input of group.inputs) input.closest(".choice")?.classList.toggle("is-suggested", chosenIn(group.dimension, suggestion?.label).includes(input.value));
  line.hidden = !suggestion;
  line.replaceChildren();
  if (!suggestion) return [];
  const score = typeof suggestion.score === "number" ? ` · ${suggestion.score.toFixed(2)}` : "";
  const accept = make("button", { type: "button", className: "small quiet" });
  accept.dataset.do = "accept";
  accept.append("Accept ", make("kbd", { textContent: "a" }));
  const title = suggestion.title ?? item.titleOf(group, suggestion.label);
  line.replaceChildren(`${suggestion.checker} suggests `, make("b", { textContent: title }), score, " ", accept);
  if (suggestion.explanation) line.append(make("span", { className: "reasons", dir: "auto", textContent: suggestion.explanation }));
  return [line, ...group.box.querySelectorAll(".is-suggested")];
}
