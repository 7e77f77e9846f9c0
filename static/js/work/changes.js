// Changes of what was answered before: none is left behind unsent.

import { askUnsent } from "./dialogs.js";
import { announce, notice, one, showSaveState } from "./shell.js";
import { gettext } from "../words.js";

export const wasAnswered = (item) => item.revision > 0 || item.stage === "review";
export const isUnsent = (item) => item !== null && item.stage !== "waiting" && wasAnswered(item) && item.isChanged();

const noticeOf = (assignment) => `unsent:${assignment}`;

/** `page`: main.js. */
export function createChanges(page) {
  const { drafts, trail } = page;
  let saving = { waiting: 0, refused: [], aside: [], isSafe: true }; // the outbox's state

  function send(changed, isLeaving = false) {
    const body = page.submitting.bodyOf(changed, false);
    changed.markSent();
    changed.revision += 1;
    if (changed !== page.open) changed.stage = "sent";
    page.submitting.queue(changed, body, isLeaving);
  }

  /** `go()` away from the item on the screen. A changed answer is sent; where it is not complete, the person decides. */
  function leave(go) {
    const left = page.item;
    if (left?.stage === "waiting") return page.screen.showStatus(gettext("Saving your answer"));
    if (!isUnsent(left)) return go();
    const missing = left.missing();
    if (!missing) {
      send(left);
      return go();
    }
    return askUnsent(missing.message, {
      keep: () => page.focusOn(missing),
      discard() {
        drafts.remove(left.payload.assignment);
        if (left.wasSent()) left.revert();
        else trail.drop(left.payload.assignment);
        if (left !== page.open) left.stage = "sent";
        announce(gettext("The change is discarded"));
        go();
      },
    });
  }

  /** A change that an earlier visit left, as it was not complete. */
  function offer(assignment) {
    notice(noticeOf(assignment), "warning", gettext("You changed an answer here, but the change was not sent. Your previous answer is still stored."), [
      [gettext("Open the item"), async () => (await page.walk.open(assignment)) || offer(assignment)],
      [gettext("Discard the change"), () => {
        drafts.remove(assignment);
        notice(noticeOf(assignment));
        showSaving();
      }],
    ]);
  }

  /** Where the answers are; `state` is the outbox's, if it has changed. */
  function showSaving(state = saving) {
    saving = state;
    const hasUnsent = isUnsent(page.item) || one('[data-notice^="unsent:"]') !== null;
    showSaveState({ ...saving, hasUnsent }, page.work.dataset, () => page.outbox.retry());
  }

  return {
    leave, noticeOf, showSaving,
    /** Offers the changes that earlier visits left on other items than the one on the screen. */
    offerAll() {
      for (const assignment of drafts.keys()) {
        if (drafts.get(assignment)?.revision > 0 && page.item?.payload.assignment !== assignment) offer(assignment);
      }
    },
    /** The page ends: a complete change is sent, anything else is kept in this browser. */
    sendOrKeep() {
      const { item } = page;
      if (isUnsent(item) && !item.missing()) send(item, true);
      else if (item) page.maker.save(item);
    },
  };
}
