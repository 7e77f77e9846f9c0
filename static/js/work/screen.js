// What is on the screen: an item, newer guidelines that stand before it, or why there is nothing to label.

import { isUnsent, wasAnswered } from "./changes.js";
import { announce, introduce, nodesOf, notice, one } from "./shell.js";
import { formatNumber, gettext } from "../words.js";

const LOADING_WAIT_MS = 2000; // how long an empty page waits for the item that an answer under way brings
const REPORT_MS = 3000; // an answer that leaves at once says that the item is shown

/** `page` has `item`, which is on the screen, and `open`, which is not answered yet (main.js). */
export function createScreen(page) {
  const { stage, guidelines, trail, typeAhead } = page;
  const [back, forward] = ["back", "forward"].map((way) => one(`[data-do="${way}"]`));
  let pollTimer = 0;

  function showStatus(text, kind = "") {
    const line = page.item && one("[data-status]", page.item.node);
    if (!line) return;
    if (line.textContent !== text) line.textContent = text;
    line.dataset.kind = kind;
  }

  /** The status line and the submit button follow the item on the screen. */
  function refresh() {
    const { item } = page;
    page.changes.showSaving();
    if (!item) return;
    const missing = item.missing();
    const button = one(".submit", item.node);
    button.classList.toggle("is-ready", !missing);
    const [isAnswered, isChanged] = [wasAnswered(item), isUnsent(item)];
    one("[data-submit-text]", item.node).textContent = !isAnswered ? gettext("Submit") : item.payload.waits ? gettext("Go on") : isChanged ? gettext("Send change") : item === page.open || item.stage === "review" ? gettext("Keep") : gettext("Go on");
    if (item.stage === "waiting") showStatus(gettext("Saving your answer"));
    else if (item.stage === "review" && !isChanged && item.hasSuggestion()) showStatus(gettext("Saved. Keep your answer, or change it in view of the suggestion."));
    else if (isAnswered) showStatus(isChanged ? gettext("Changed, not sent yet") : gettext("You answered this item"));
    else showStatus(missing ? missing.message : gettext("Complete"));
    showWays();
    page.inquire(item);
  }

  /** The ways out of this item. What the status line says stays: it may be the answer to the key just pressed. */
  function showWays() {
    const { item, open, ahead, walk } = page;
    page.status.showReady();
    for (const way of item.node.querySelectorAll('[data-do="skip"], [data-do="flag"]')) way.hidden = item !== open || item.stage !== "open" || Boolean(item.payload.waits);
    back.disabled = walk.position() <= 0 && !trail.hasOlder();
    forward.disabled = item === open || (!open && walk.position() >= trail.length() - 1 && !ahead.isKnown());
  }

  /** Whether an item has to wait until its reader has acknowledged newer guidelines: one that they have not begun. */
  const waitsForGuidelines = (next) => guidelines.isPending() && next === page.open && next.stage === "open" && !next.isBegun();

  function show(next) {
    if (waitsForGuidelines(next)) return showGuidelines();
    clear();
    page.submitting.stopWaiting();
    page.item = next;
    notice(page.changes.noticeOf(next.payload.assignment)); // it is on the screen
    stage.replaceChildren(next.node);
    const isFirst = !next.shownAt;
    if (next.stage === "sent" && !next.isChanged()) {
      next.shownAt = null; // a later revision has its own times
      next.timer.reset();
    }
    next.shownAt ??= new Date().toISOString();
    next.timer.start();
    next.setCurrent(next.missing()?.group ?? next.groups.find(next.isAsked));
    refresh();
    window.scrollTo(0, 0);
    next.current().box.focus({ preventScroll: true });
    performance.mark("assay:shown");
    if (next.stage === "open") setTimeout(() => (page.outbox.isBusy() ? setTimeout(() => report(next), REPORT_MS) : report(next)), 0); // after the paint
    const number = trail.numberOf(next.payload.assignment);
    showNumber(next.payload.waits ? "" : number);
    announce(`${isFirst && next.stage === "open" ? `${gettext("New.")} ` : ""}${introduce(next, number, one("[data-own-bar]").max)}`);
    typeAhead.press(true);
    return undefined;
  }

  /** The number of the item on the screen; empty where there is none, or it is no work. */
  function showNumber(number) {
    one('[data-do="number"]').hidden = !number;
    for (const place of document.querySelectorAll("[data-item-number]")) place.textContent = formatNumber(number);
    one('[data-do="link"]').textContent = gettext("Copy a link to this item");
  }

  /** What was on the screen goes. */
  function clear() {
    showNumber("");
    page.highlighter.leave();
    page.item?.timer.stop();
    clearTimeout(pollTimer);
  }

  /** That the open item was shown, in a request of its own: no answer that asked for the next item has said so. */
  function report(item) {
    if (item?.stage !== "open" || !item.shownAt || item.isReported) return;
    item.isReported = true;
    page.server.shown(item.payload.assignment, { at: item.shownAt });
  }

  function showNoWays() {
    back.disabled = !trail.length() && !trail.hasOlder();
    forward.disabled = true;
  }

  /** Instead of the open item, which is on the screen again once the person has acknowledged them. */
  function showGuidelines() {
    typeAhead.drop();
    clear();
    page.item = null;
    guidelines.show(stage);
    window.scrollTo(0, 0);
    showNoWays();
    announce(one("h2", stage).textContent);
  }

  function goOn() {
    if (page.open) show(page.open);
    else advance();
  }

  /** What came from the server about guidelines that are newer than those this page knows. */
  function receiveGuidelines(newer) {
    guidelines.receive(newer, page.outbox.acknowledged());
    if (page.item && waitsForGuidelines(page.item)) showGuidelines();
  }

  function showEmpty(html, retrySeconds) {
    typeAhead.drop();
    clear();
    page.item = page.open = null;
    notice("ended"); // the page says it
    stage.replaceChildren(nodesOf(html));
    stage.focus({ preventScroll: true });
    showNoWays();
    announce(one("h2", stage)?.textContent ?? "");
    lookLater(retrySeconds);
  }

  function lookLater(seconds) {
    clearTimeout(pollTimer);
    if (seconds > 0) pollTimer = setTimeout(page.ahead.lookAgain, seconds * 1000);
  }

  function showLoading() {
    page.item?.timer.stop();
    page.item = page.open = null;
    stage.replaceChildren(Object.assign(document.createElement("p"), { className: "loading", textContent: gettext("Fetching the next item") }));
    pollTimer = setTimeout(page.ahead.fetch, LOADING_WAIT_MS);
    fetchSoon();
  }

  function showUnreachable(error) {
    showEmpty("", 0);
    stage.append(document.importNode(one("template[data-offline]").content, true));
    if (error.reply?.signed_in) one(".work-empty p", stage).textContent = error.reply.message;
    lookLater(error.message === "401" ? 30 : 5);
  }

  /** From an answered item to the next one. */
  function advance() {
    page.open = null;
    const next = page.ahead.take();
    if (next?.item) {
      page.open = next.item;
      show(page.open);
      fetchSoon();
    } else if (next) {
      showEmpty(next.empty, next.retry);
    } else showLoading();
  }

  /** The answer to a submit usually brings the next item along; ask only when it did not. */
  function fetchSoon() {
    setTimeout(() => page.ahead.isFull() || page.outbox.isBusy() || page.ahead.fetch(), 0);
  }

  return { report, showStatus, refresh, showWays, showNoWays, show, goOn, receiveGuidelines, showEmpty, showUnreachable, lookLater, advance, fetchSoon };
}
