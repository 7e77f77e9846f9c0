// What is written about an item: the comment, the words that answer the free-text question, and the page's further
// controls, which drafts hold by name.

/** `changed()` is called with every change, `written(words)` when the words are left: during
 * typing the box has an undo of its own, and what was written becomes one step. */
export function createWriting(node, { changed, written }) {
  const find = (selector) => node.querySelector(selector);
  const comment = find("[data-comment]");
  const words = find("[data-free-text]");
  const controls = [...node.querySelectorAll("[data-kept]")];

  /** What the server did not accept in the words; empty takes it away. */
  function showError(message) {
    const line = find("[data-free-text-error]");
    if (!line) return;
    line.textContent = message;
    line.hidden = !message;
    words.toggleAttribute("aria-invalid", false);
    if (message) words.setAttribute("aria-invalid", "true");
  }

  comment?.addEventListener("input", changed);
  for (const control of controls) control.addEventListener("change", changed);
  words?.addEventListener("input", () => {
    showError("");
    changed();
  });
  words?.addEventListener("change", () => written(words.value));

  return {
    showError,
    element: words,
    comment: () => comment?.value ?? "",
    words: () => words?.value ?? "",
    putComment(text) {
      if (comment) comment.value = text;
    },
    putWords(text) {
      if (words) words.value = text;
    },
    openComment() {
      find("[data-comment-box]").open = true;
    },
    more: () => Object.fromEntries(controls.map((control) => [control.dataset.kept, control.type === "checkbox" ? control.checked : control.value])),
    putMore(more) {
      for (const control of controls) control[control.type === "checkbox" ? "checked" : "value"] = more?.[control.dataset.kept] ?? "";
    },
  };
}
