// Small behaviours of ordinary pages, each switched on by a data attribute (docs/ui.md). Pages work without them.

const actions = {
  // <button data-dismiss> removes the message that it is in.
  "[data-dismiss]": (button) => button.closest(".message")?.remove(),
  // <button data-dialog="id"> opens that <dialog>.
  "[data-dialog]": (button) => document.getElementById(button.dataset.dialog)?.showModal(),
  "[data-dialog-close]": (button) => button.closest("dialog")?.close(),
  // <button data-copy="id"> copies the text of that element (tables as tab-separated lines, ready for a spreadsheet).
  "[data-copy]": (button) => copy(document.getElementById(button.dataset.copy), button),
  // <button data-copy-from="address"> copies what stands there.
  "[data-copy-from]": (button) => say(button, copyFrom(button.dataset.copyFrom)),
};

async function copy(source, button) {
  if (!source) return;
  const rows = source.matches("table") ? [...source.rows] : null;
  const clean = (cell) => cell.innerText.replace(/\s+/g, " ").trim();
  const text = rows ? rows.map((row) => [...row.cells].map(clean).join("\t")).join("\n") : source.textContent;
  await say(button, navigator.clipboard.writeText(text));
}

async function copyFrom(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  await navigator.clipboard.writeText(await response.text());
}

// What became of it stands on the button for a moment.
async function say(button, copied) {
  const before = button.textContent;
  try {
    await copied;
    button.textContent = "Copied";
  } catch {
    button.textContent = "Could not copy";
  }
  setTimeout(() => (button.textContent = before), 2000);
}

document.addEventListener("click", (event) => {
  for (const [selector, act] of Object.entries(actions)) {
    const element = event.target.closest?.(selector);
    if (element) act(element);
  }
});

// <form data-confirm="Question?"> asks before it is sent.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset?.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// <select data-autosubmit> sends its form when it changes.
document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-autosubmit]")) event.target.form.requestSubmit();
});
