// The search among many labels of a question: words of a label or of its group, in any order.

import { gettext } from "../words.js";

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const wordsOf = (text) => plain(text).split(/[\s_-]+/).filter(Boolean);

/** The label that Enter would choose. */
const foundBy = (field) => choicesOf(field).find((choice) => choice.classList.contains("is-found"));

const choicesOf = (field) => [...field.closest("[data-group]").querySelectorAll(".choice")];

function point(field, choice) {
  for (const other of choicesOf(field)) other.classList.toggle("is-found", other === choice);
  choice?.scrollIntoView({ block: "nearest", behavior: "instant" });
}

/** Shows the labels that have all words of the field, and points at the first. */
function find(field) {
  const wanted = wordsOf(field.value);
  let heading, number = 0, first;
  for (const element of field.closest("[data-group]").querySelectorAll(".choice, [data-label-group]")) {
    if ("labelGroup" in element.dataset) {
      heading = element;
      heading.hidden = wanted.length > 0;
      continue;
    }
    const text = plain(`${heading?.textContent ?? ""} ${element.textContent} ${element.querySelector("input").value}`);
    element.hidden = !wanted.every((word) => text.includes(word));
    if (element.hidden) continue;
    number += 1;
    first ??= element;
    if (heading) heading.hidden = false;
  }
  point(field, wanted.length ? first : undefined);
  field.closest("[data-group]").querySelector("[data-found]").textContent = wanted.length ? gettext("{n} found", { n: number }) : "";
}

/** The arrows walk through what was found. */
function walk(field, direction) {
  const shown = choicesOf(field).filter((choice) => !choice.hidden);
  const place = shown.indexOf(foundBy(field));
  point(field, shown[Math.min(shown.length - 1, Math.max(0, place + direction))]);
}

/** Empties the field, with all labels shown. */
function forget(field) {
  if (!field.value) return point(field);
  field.value = "";
  find(field);
}

/** The field finds, the arrows walk, Enter chooses what they point at: `choose(box of the group, value)`. */
export function listenToSearches(stage, choose) {
  stage.addEventListener("input", (event) => event.target.matches("[data-find-label]") && find(event.target));
  stage.addEventListener("keydown", (event) => {
    const field = event.target;
    if (!field.matches("[data-find-label]") || event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") return forget(field); // and the field is left, as any other
    if (event.key === "ArrowDown" || event.key === "ArrowUp") walk(field, event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter") {
      const found = foundBy(field); // without one, nothing is chosen and the form is not submitted
      if (found) {
        choose(field.closest("[data-group]"), found.querySelector("input").value);
        forget(field);
        found.scrollIntoView({ block: "nearest", behavior: "instant" });
      }
    } else return;
    event.preventDefault();
  });
}
