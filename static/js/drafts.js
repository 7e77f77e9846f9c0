// Reviewing the drafts of one source by the keyboard, and showing where in the response each comes from. Without this
// script every decision is still a button.

const rows = () => [...document.querySelectorAll("#drafts > li")];
const current = () => document.activeElement?.closest?.("#drafts > li");
// Not by its class, which htmx changes a moment after the rest.
const isOpen = (row) => row.dataset.state === "proposed";

function go(row) {
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  go(at < 0 ? (all.find(isOpen) ?? all[0]) : all[at + by]);
}

// The next row that waits for a decision after the one in this place, else the first one; when all is decided, the way on.
function goOn(place) {
  const all = rows();
  const next = all.slice(place).find(isOpen) ?? all.find(isOpen);
  if (next) go(next);
  else document.getElementById("draft-next")?.focus();
}

function press(act) {
  current()?.querySelector(`button[value="${act}"]`)?.click();
}

const keys = {
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  a: () => press("accept"),
  d: () => press("drop"),
  u: () => press("undo"),
  e: () => current()?.querySelector("textarea:not([readonly])")?.focus(),
  n: () => document.getElementById("draft-next")?.click(),
  "+": () => document.querySelector("#draft-add textarea")?.focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest?.("textarea");
  if (field) {
    if (event.key === "Escape") go(current());
    // Enter sends with the form's first button, which accepts; Shift and Enter begin a new line.
    if (event.key !== "Enter" || event.shiftKey || field.readOnly) return;
    event.preventDefault();
    field.form.querySelector("button[type=submit]")?.click();
    return;
  }
  if (event.target.closest?.("input, select") || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

// Decisions on their way, by the form that sent them. When one has come back, the focus goes on at once, so that the next
// key finds it there; a focus that has moved elsewhere in the meantime stays there.
const decided = new WeakMap();
document.addEventListener("submit", (event) => {
  const row = event.target.closest("#drafts > li");
  decided.set(event.target, { id: row?.id, place: rows().indexOf(row), act: event.submitter?.value });
});
document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.requestConfig.elt;
  if (!decided.has(form)) return;
  const { id, place, act } = decided.get(form);
  decided.delete(form);
  const row = id && document.getElementById(id);
  const refused = row?.querySelector(".problem") || document.querySelector("#draft-summary .problem");
  const isAdding = form.id === "draft-add";
  if (isAdding && !refused) form.reset();
  const at = document.activeElement;
  if (at && at !== document.body && !row?.contains(at) && !form.contains(at)) return;
  if (isAdding) form.querySelector("textarea").focus();
  else if (row && (refused || act === "undo")) go(row);
  else goOn(Math.max(place, 0));
});

// The stretches that the draft in focus comes from.
document.addEventListener("focusin", () => {
  const number = current()?.dataset.number;
  for (const mark of document.querySelectorAll("#response-text mark")) {
    mark.classList.toggle("is-current", Boolean(number) && mark.dataset.drafts.split(" ").includes(number));
  }
  document.querySelector("#response-text mark.is-current")?.scrollIntoView({ block: "nearest" });
});

// The page begins at its top, with the keys at the first row that waits for a decision.
rows().find(isOpen)?.focus({ preventScroll: true });
