// The search among many labels of a question: words of a label or of its group, in any order.

import { gettext } from "../words.js";

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const wordsOf = (text) => plain(text).split(/[\s_-]+/).filter(Boolean);

/** The label that Enter would choose. */
const foundBy = (field) => choicesOf(field).find((choice) => choice.classList.contains("is-found"));

const choicesOf = (field) => [...field.closest("[data-group]").querySelectorAll(".many .choice")];

function point(field, choice) {
  for (const other of choicesOf(field)) other.classList.toggle("is-found", other === choice);
  choice?.scrollIntoView({ block: "nearest", behavior: "instant" });
}

/** Whether a label is called as the words that were typed. */
function isCalled(choice, wanted) {
  const box = choice.querySelector("input");
  return [box.nextElementSibling.textContent, box.value].some((name) => wordsOf(name).join() === wanted.join());
}

/** Shows the labels that have all words of the field, and points at one that is called so, or else at the first; without words, those of open groups. */
function find(field) {
  const wanted = wordsOf(field.value);
  let path = []; // the headings that an element stands under
  let number = 0, first, called;
  const isOpen = () => path.every((heading) => heading.getAttribute("aria-expanded") === "true");
  for (const element of field.closest("[data-group]").querySelectorAll(".many .choice, [data-label-group]")) {
    if ("labelGroup" in element.dataset) {
      path = path.filter((heading) => Number(heading.dataset.level) < Number(element.dataset.level));
      element.hidden = wanted.length > 0 || !isOpen();
      path.push(element);
      continue;
    }
    if (element.dataset.level !== undefined) path = path.slice(0, Number(element.dataset.level));
    const input = element.querySelector("input");
    const parts = [...path, ...element.children].map((part) => part.textContent).join(" ");
    const text = plain(`${parts} ${input.value}`);
    element.hidden = wanted.length ? !wanted.every((word) => text.includes(word)) : !(isOpen() || input.checked);
    if (element.hidden || !wanted.length) continue;
    number += 1;
    first ??= element;
    if (isCalled(element, wanted)) called ??= element;
    for (const heading of path) heading.hidden = false;
  }
  point(field, called ?? first);
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
  stage.addEventListener("click", (event) => {
    const heading = event.target.closest("[data-label-group]");
    if (!heading) return;
    heading.setAttribute("aria-expanded", heading.getAttribute("aria-expanded") === "false");
    find(heading.closest("[data-group]").querySelector("[data-find-label]"));
  });
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
