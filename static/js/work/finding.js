// The search among many labels of a question: words of a label or of its group, in any order.

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const wordsOf = (text) => plain(text).split(/[\s_-]+/).filter(Boolean);

/** The label that Enter would choose. */
export const foundBy = (field) => choicesOf(field).find((choice) => choice.classList.contains("is-found"));

const choicesOf = (field) => [...field.closest("[data-group]").querySelectorAll(".choice")];

function point(field, choice) {
  for (const other of choicesOf(field)) other.classList.toggle("is-found", other === choice);
  choice?.scrollIntoView({ block: "nearest", behavior: "instant" });
}

/** Shows the labels that have all words of the field, and points at the first. */
export function find(field) {
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
  field.closest("[data-group]").querySelector("[data-found]").textContent = wanted.length ? `${number.toLocaleString("en")} found` : "";
}

/** The arrows walk through what was found. */
export function walk(field, direction) {
  const shown = choicesOf(field).filter((choice) => !choice.hidden);
  const place = shown.indexOf(foundBy(field));
  point(field, shown[Math.min(shown.length - 1, Math.max(0, place + direction))]);
}

/** Empties the field, with all labels shown. */
export function forget(field) {
  if (!field.value) return point(field);
  field.value = "";
  find(field);
}
