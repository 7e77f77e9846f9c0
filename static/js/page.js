// Small behaviours of ordinary pages, each switched on by a data attribute (docs/ui.md). Pages work without them.

import { forgetOthers } from "./work/offline/forgetting.js";
import { gettext } from "./words.js";

const actions = {
  // <button data-dismiss> removes the message that it is in.
  "[data-dismiss]": (button) => button.closest(".message")?.remove(),
  // <button data-dialog="id"> opens that <dialog>.
  "[data-dialog]": (button) => document.getElementById(button.dataset.dialog)?.showModal(),
  "[data-dialog-close]": (button) => button.closest("dialog")?.close(),
  // <button data-copy="id"> copies the text of that element (tables as tab-separated lines, ready for a spreadsheet;
  // of a cell with data-copied that in its place).
  "[data-copy]": (button) => copy(button, Promise.resolve(textOf(document.getElementById(button.dataset.copy)))),
  // <button data-copy-from="address"> copies what stands there.
  "[data-copy-from]": (button) => copy(button, textAt(button.dataset.copyFrom)),
};

document.addEventListener("click", (event) => {
  for (const [selector, act] of Object.entries(actions)) {
    const element = event.target.closest?.(selector);
    if (element) act(element);
  }
});

// ---- copying ----

const RUNS = /^'*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/; // what a spreadsheet takes for a formula; files have the same rule
const NUMBERS = /^[+-]?[\d.,]+( to [+-]?[\d.,]+)?$/;
const OUTCOME_MS = 2000;
const captions = new WeakMap(); // button -> {before, timer}: its text, while it shows the outcome of copying
const announcer = Object.assign(document.createElement("p"), { className: "visually-hidden" });
announcer.setAttribute("role", "status");
document.body.append(announcer);

function textOf(source) {
  if (!source.matches("table")) return source.textContent;
  const words = (cell) => (cell.dataset.copied ?? cell.innerText).replace(/\s+/g, " ").trim();
  const safe = (text) => (RUNS.test(text) && text.length > 1 && !NUMBERS.test(text) ? `'${text}` : text);
  return [...source.rows].map((row) => [...row.cells].map((cell) => safe(words(cell))).join("\t")).join("\n");
}

async function textAt(address) {
  const response = await fetch(address, { redirect: "manual" }); // never the page that asks to sign in
  if (response.type === "opaqueredirect") throw new Error(gettext("Signed out"));
  if (response.status === 410) throw new Error(gettext("Outdated: reload the page")); // computed anew since the page was loaded
  if (!response.ok) throw new Error(gettext("Not found ({status})", { status: String(response.status) }));
  return response.text();
}

/** `text` is a promise. The button shows the outcome for a moment. */
async function copy(button, text) {
  let words;
  const isWritten = write(text).then(() => true, () => false);
  try {
    words = await text;
  } catch (error) {
    return showOutcome(button, error instanceof TypeError ? gettext("No answer") : error.message);
  }
  return (await isWritten) || copyMarked(words) ? showOutcome(button, gettext("Copied")) : undefined;
}

/** Begun at once, while the click still counts: some browsers refuse what comes after a server's answer. */
async function write(text) {
  if (!window.ClipboardItem) return navigator.clipboard.writeText(await text);
  const blob = text.then((words) => new Blob([words], { type: "text/plain" }));
  blob.catch(() => {}); // `copy` reports it
  return navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}

/** Where pages get no clipboard, such as on plain http: the old way, and where that is refused, too, by hand. */
function copyMarked(words) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "by-hand");
  dialog.innerHTML = `<header><h2 id="by-hand"></h2><button type="button" class="quiet small" data-dialog-close></button></header>
    <div class="body stack"><p id="by-hand-how"></p>
    <textarea readonly rows="12" dir="auto" aria-describedby="by-hand-how"></textarea></div>`;
  dialog.querySelector("h2").textContent = gettext("Copy by hand");
  dialog.querySelector("button").textContent = gettext("Close");
  dialog.querySelector("p").textContent = gettext("This browser does not let the page copy. All of it is marked: press Ctrl and C (⌘ and C on a Mac).");
  dialog.querySelector("textarea").setAttribute("aria-label", gettext("What to copy"));
  const field = dialog.querySelector("textarea");
  field.value = words;
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
  field.select();
  const isCopied = document.execCommand("copy");
  if (isCopied) dialog.close();
  return isCopied;
}

function showOutcome(button, words) {
  const before = captions.get(button)?.before ?? button.textContent;
  clearTimeout(captions.get(button)?.timer);
  button.textContent = words;
  announcer.textContent = `${words}: ${button.getAttribute("aria-label") ?? before}`;
  const timer = setTimeout(() => {
    button.textContent = before;
    announcer.textContent = "";
    captions.delete(button);
  }, OUTCOME_MS);
  captions.set(button, { before, timer });
}

// ---- forms ----

const SENT_MS = 10000; // a form whose answer does not come can be sent again
const sent = new Set();

document.addEventListener("submit", (event) => {
  const form = event.target;
  // <form data-confirm="Question?"> asks before it is sent.
  const question = form.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
  // Two clicks send one form once. What htmx sends is prevented here already.
  if (event.defaultPrevented || form.getAttribute("method")?.toLowerCase() !== "post") return;
  if (sent.has(form)) return void event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), SENT_MS);
});
window.addEventListener("pageshow", () => sent.clear()); // back from the page that it led to

// <select data-autosubmit> sends its form when it changes.
document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-autosubmit]")) event.target.form.requestSubmit();
});

// <div data-drop="id"> takes dropped files for the file field of that id.
for (const area of document.querySelectorAll("[data-drop]")) {
  const isOver = (event) => {
    event.preventDefault();
    area.classList.toggle("is-over", event.type === "dragover");
  };
  area.addEventListener("dragover", isOver);
  area.addEventListener("dragleave", isOver);
  area.addEventListener("drop", (event) => {
    isOver(event);
    if (event.dataTransfer.files.length) document.getElementById(area.dataset.drop).files = event.dataTransfer.files;
  });
}

// <input data-slug-of="id"> follows the text of that field, as a short name, until it is edited.
const slug = document.querySelector("[data-slug-of]");
if (slug && !slug.value) {
  const title = document.getElementById(slug.dataset.slugOf);
  const follow = () => (slug.value = slugOf(title.value, slug.maxLength));
  title.addEventListener("input", follow);
  slug.addEventListener("input", () => title.removeEventListener("input", follow), { once: true });
}

function slugOf(text, most) {
  const plain = text.normalize("NFKD").replace(/[^\w\s-]/g, "").trim().toLowerCase();
  return plain.replace(/[-\s]+/g, "-").replace(/^[-_]+|[-_]+$/g, "").slice(0, most);
}

// <details data-stays-open> is open again on the page that a form inside it leads to.
const staysOpen = document.querySelector("[data-stays-open]");
if (staysOpen) {
  const key = `open ${location.pathname}`;
  if (sessionStorage.getItem(key)) staysOpen.open = true;
  sessionStorage.removeItem(key);
  staysOpen.addEventListener("submit", () => sessionStorage.setItem(key, "1"));
}

// ---- what the labelling page keeps for work without a connection ----

// <body data-user> is who is signed in. A page that does not know removes nothing.
if ("user" in document.body.dataset) forgetOthers(document.body.dataset.user);
