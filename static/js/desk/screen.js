// What is on the adjudicators' screen: one item with people's answers, or why there is none.

import { announce, introduce, notice, one } from "../work/shell.js";
import { overlayOf, showAnswers } from "./answers.js";

const DISMISS = ["Dismiss", () => {}];
const numbers = new Intl.NumberFormat("en");

/** `page`: main.js. */
export function createScreen(page) {
  const { stage, drafts, trail, typeAhead } = page;

  function showStatus(text, kind = "") {
    const line = page.item && one("[data-status]", page.item.node);
    if (!line) return;
    if (line.textContent !== text) line.textContent = text;
    line.dataset.kind = kind;
  }

  function showWaiting(count) {
    if (count === undefined) return;
    const most = Number(one("[data-waiting]").dataset.most);
    one("[data-waiting]").textContent = count > most ? `more than ${numbers.format(most)}` : numbers.format(count);
  }

  /** The place of the item on the screen among those decided in this visit; after them where it is not one of these. */
  function position() {
    const index = page.item ? trail.findIndex((one) => one.item === page.item.payload.item) : -1;
    return index < 0 ? trail.length : index;
  }

  function refresh() {
    const { item } = page;
    if (!item) return;
    const missing = item.missing();
    one(".submit", item.node).classList.toggle("is-ready", !missing);
    const open = item.payload.differing.length || item.payload.improbable !== null;
    showStatus(missing ? missing.message : open ? "Complete" : "No differences: press Enter to confirm");
    one('[data-do="back"]').disabled = position() <= 0;
  }

  function showEmpty(html) {
    typeAhead.drop();
    const template = document.createElement("template");
    template.innerHTML = html;
    page.item = null;
    stage.replaceChildren(template.content.cloneNode(true));
    stage.focus({ preventScroll: true });
    announce(one("h2", stage).textContent);
  }

  /** Shows what a reply brings: an item, or that none waits. `pending` decisions before it are on their way. */
  function receive(reply, pending = 0) {
    if (reply.status >= 400 && !reply.html) {
      showStatus(reply.message, "missing");
      return notice("problem", "error", reply.message, [DISMISS]);
    }
    showWaiting(reply.waiting);
    page.highlighter.leave();
    notice("problem");
    notice("changed");
    const before = page.item?.payload.item;
    if (reply.state === "empty") return showEmpty(reply.html);
    const draft = drafts.get(reply.payload.assignment);
    const item = page.maker.build(reply.html, reply.payload);
    page.item = item;
    item.names = {};
    item.place = position() + pending + 1;
    item.overlay = overlayOf(item);
    showAnswers(item);
    stage.replaceChildren(item.node);
    item.setCurrent(item.missing()?.group ?? item.groups.find(item.isAsked));
    item.render();
    refresh();
    window.scrollTo(0, 0);
    item.current()?.box.focus({ preventScroll: true });
    if (reply.notice) notice("held", "warning", reply.notice, [DISMISS]);
    if (draft?.basis && draft.basis !== reply.payload.basis && !reply.message) {
      notice("changed", "warning", "Another person answered or decided this item after you chose what is shown here. Look at it again before you decide.", [DISMISS]);
    }
    announce(introduce(item, item.place));
    if (!pending) {
      typeAhead.press(item.payload.item !== before);
      page.ahead.fetch();
    }
    return undefined;
  }

  /** An item that was on the screen before, as it was left. */
  function showAgain(item) {
    page.highlighter.leave();
    page.item = item;
    stage.replaceChildren(item.node);
    refresh();
    item.current()?.box.focus({ preventScroll: true });
    announce(introduce(item, item.place));
  }

  return { showAgain, showWaiting, showStatus, position, refresh, receive };
}
