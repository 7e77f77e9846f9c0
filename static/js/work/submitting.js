// Submitting and skipping the item on the screen. The page goes on at once, and the answer travels in the background.

import { wasAnswered } from "./changes.js";
import { askReason } from "./dialogs.js";
import { uuid } from "./sending/store.js";
import { notice } from "./shell.js";
import { gettext, ngettext } from "../words.js";

const SUGGESTION_WAIT_MS = 4000; // how long an answer waits for the suggestion that follows it

/** `page`: main.js. */
export function createSubmitting(page) {
  const { drafts, guidelines, server, trail, work } = page;
  let waitTimer = 0;

  function submit() {
    const answered = page.item;
    if (!answered || answered.stage === "waiting") return;
    const isOpen = answered === page.open;
    const isAgain = wasAnswered(answered);
    if (isAgain && !answered.isChanged()) return isOpen ? finish(answered) : page.walk.forward();
    const missing = answered.missing();
    if (missing) {
      page.screen.showStatus(missing.message, "missing");
      return page.focusOn(missing);
    }
    const { minimum_seconds: minimum = 0, assignment } = answered.payload;
    const open = Math.abs(Date.now() - Date.parse(answered.shownAt)) / 1000; // a clock may be set back meanwhile
    const left = Math.ceil(minimum - open);
    if (left > 0 && !isAgain) return page.screen.showStatus(ngettext("Please take {n} more second for this item", "Please take {n} more seconds for this item", left), "missing");

    const waits = (page.prefill === "after" || answered.payload.waits) && isOpen && !isAgain && navigator.onLine;
    const body = bodyOf(answered, isOpen);
    answered.markSent();
    notice("skipped");
    trail.add(assignment); // the next one has the next number
    answered.revision += 1;
    answered.stage = waits ? "waiting" : "sent";
    if (page.prefill === "") {
      answered.isAwaited = true;
      setTimeout(() => (answered.isAwaited = false), SUGGESTION_WAIT_MS);
    }
    if (waits && !answered.payload.waits) waitTimer = setTimeout(() => finish(answered), SUGGESTION_WAIT_MS);
    if (!waits && isOpen) finish(answered);
    else if (!waits) page.walk.forward();
    page.screen.refresh();
    // After the page has changed: writing to the store takes time that the person would see.
    queue(answered, body);
  }

  const bodyOf = (answered, wantsNext) => ({
    client_id: uuid(), shown_at: answered.shownAt, submitted_at: new Date().toISOString(), active_ms: answered.timer.total(), comment: answered.comment(),
    text_hash: answered.payload.text_hash, guideline_version: guidelines.known(),
    options_version: answered.payload.options_version,
    suggestions_shown_at: page.outbox.paintedAt(answered.payload.assignment) ?? answered.paintedAt(),
    judgements: answered.judgements(), want_next: wantsNext,
    ...(answered.payload.free_text ? { free_text: answered.freeText() } : {}),
  });

  function queue(answered, body, isLeaving = false) {
    const { assignment } = answered.payload;
    trail.add(assignment);
    trail.keep(assignment, answered);
    page.sent.add(assignment);
    page.outbox.add("submit", assignment, server.submitUrl(assignment), body, { isLeaving, revision: answered.revision });
    drafts.remove(assignment);
  }

  function finish(answered) {
    stopWaiting();
    if (answered.isChanged()) { // by an annotator who went on while their answer was on its way
      answered.stage = "review";
      page.typeAhead.press(false);
      return page.screen.refresh();
    }
    answered.stage = "sent";
    drafts.remove(answered.payload.assignment);
    if (answered === page.open) page.screen.advance();
    return undefined;
  }

  const stopWaiting = () => clearTimeout(waitTimer);

  function skip(reason, isFlagged, isParked) {
    const { item: skipped } = page;
    const { assignment } = skipped.payload;
    drafts.remove(assignment);
    skipped.stage = "sent";
    if (!isParked) page.sent.add(assignment); // what is parked comes back
    page.screen.advance();
    notice("skipped", "info", isFlagged ? gettext("Flagged and skipped.") : isParked ? gettext("Parked for later.") : gettext("Skipped."), [[gettext("Take it back under My work"), work.dataset.myWorkUrl], [gettext("Dismiss"), () => {}]]);
    page.outbox.add("skip", assignment, server.skipUrl(assignment), {
      client_id: uuid(), shown_at: skipped.shownAt, reason, flag: isFlagged, park: isParked, want_next: true, guideline_version: guidelines.known(),
    });
  }

  function askSkip(isFlagged) {
    const { item, open } = page;
    if (!item || item !== open || item.stage !== "open") return page.screen.showStatus(gettext("Only an item that is not answered yet can be skipped"));
    return askReason(isFlagged, (reason, isParked) => skip(reason, isFlagged, isParked));
  }

  return { submit, bodyOf, queue, finish, stopWaiting, askSkip };
}
