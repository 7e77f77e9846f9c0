// From the server's HTML to an item, with what this browser has kept of the person's answer.

import { createItem } from "./answers.js";

/** `changed` is called when the person has changed an answer, `painted(item)` when a suggestion was first painted. */
export function createMaker(drafts, changed, painted) {
  const save = (item) => (item.stage !== "sent" || item.isChanged) && drafts.set(item.payload.assignment, item.draft());

  /** The item that `node` shows; `payload` stands in the node too, unless it came beside it. */
  function make(node, payload = JSON.parse(node.querySelector('script[type="application/json"]').textContent)) {
    const made = createItem(node, payload, () => {
      save(made);
      changed();
    }, painted);
    if (made.revision > 0) made.stage = "sent";
    const draft = drafts.get(payload.assignment);
    if (draft) {
      made.restore(draft);
      if (made.revision > 0) made.stage = "review";
    }
    return made;
  }

  function build(html, payload) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return make(document.importNode(template.content.querySelector("[data-item]"), true), payload);
  }

  return { make, build, save };
}
