// From the server's HTML to an item, with what this browser has kept of the person's answer.

import { createItem } from "./item/item.js";
import { printKeys } from "./keyboard.js";
import { nodesOf, one } from "./shell.js";

/** `changed()` is called when the person has changed an answer, `painted(item)` when a suggestion was first painted;
 * `waiting(assignment)` is the body of an answer that is not stored yet. */
export function createMaker(drafts, { changed, painted, waiting }) {
  function save(item) {
    const { assignment } = item.payload;
    if (item.stage === "open" || item.isChanged()) drafts.set(assignment, item.draft());
    else drafts.remove(assignment); // changed back again
  }

  /** The item that `node` shows; `payload` is in the node too, unless it came separately. */
  function make(node, payload = JSON.parse(node.querySelector('script[type="application/json"]').textContent)) {
    const made = createItem(node, payload, () => {
      save(made);
      changed();
    }, painted);
    const sent = waiting(payload.assignment);
    if (sent) {
      made.fill(sent.judgements, sent.comment, sent.free_text);
      made.markSent();
      made.render();
      made.revision = Math.max(1, made.revision);
    }
    if (made.revision > 0) made.stage = "sent";
    const draft = drafts.get(payload.assignment);
    if (draft) {
      made.restore(draft);
      if (made.revision === 0) return made;
      if (made.isChanged()) made.stage = "review";
      else drafts.remove(payload.assignment);
    }
    return made;
  }

  function build(html, payload) {
    const node = one("[data-item]", nodesOf(html));
    printKeys(node);
    return make(node, payload);
  }

  return { make, build, save };
}
