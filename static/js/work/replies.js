// What the server says to answers: the next item, suggestions, a refusal; and what becomes of answers that are not sent.

import { isUnsent } from "./changes.js";
import { waysToKeep } from "./sending/copies.js";
import { afterPaint, announce, copy, nodesOf, notice, one, showAside, showProgress } from "./shell.js";
import { gettext, ngettext } from "../words.js";

const DISMISS = [gettext("Dismiss"), () => {}];

/** `page`: main.js. */
export function createReplies(page) {
  const { server, stage, trail, typeAhead } = page;

  function answered(entry, reply) {
    const isFirstReply = page.prefill === "";
    page.prefill = reply.prefill ?? page.prefill;
    if (!entry.body.park) page.sent.add(entry.assignment); // also one that waited since before a reload
    page.keeping.drop(entry.assignment);
    showProgress(reply.progress);
    if (reply.progress) page.keeping.note({ progress: reply.progress, recent: trail.latest() });
    page.status.count(reply.surplus ? "extra" : "stored");
    page.screen.receiveGuidelines(reply.guidelines);
    const held = page.item?.payload.assignment === entry.assignment ? page.item : trail.page(entry.assignment);
    if (held && reply.revision) held.revision = Math.max(held.revision, reply.revision);
    const isAgain = "feedback" in reply; // the next try of a qualification has the same items
    if (entry.revision && reply.revision > entry.revision && !isAgain) showReplaced(entry.assignment);
    if (reply.surplus) notice("surplus", "warning", gettext("One answer came after its time had run out, and another annotator had the item by then. It is kept as an extra answer."), [DISMISS]);
    if (reply.warning) notice("checks", "warning", reply.warning, [DISMISS]);
    if (held && held === page.open && reply.feedback) showFeedback(held, reply.feedback);
    else if (held && held === page.open && held.stage === "waiting") review(held, entry, reply);
    else if (held && reply.suggestions?.length) addSuggestions(held, entry, reply, isFirstReply);
    if (page.item) page.inquire(page.item); // it may be asked more by now than the answer was
    const next = () => {
      page.ahead.receive(reply.ahead);
      if (!page.ahead.isFull() && page.open) page.screen.fetchSoon();
    };
    if (page.item) afterPaint(next);
    else next();
  }

  /** The answer that the page waited for: its suggestions are shown before the next item, if there are any. */
  function review(held, entry, reply) {
    held.suggest(reply.suggestions ?? [], entry.body.judgements);
    if (!reply.suggestions?.length || !held.hasSuggestion()) return page.submitting.finish(held);
    page.submitting.stopWaiting();
    held.stage = "review";
    page.chooser.focus(held.groups.find((group) => reply.suggestions.some((one) => one.unit === group.unit && one.dimension === group.dimension.slug && held.isAsked(group))) ?? held.current());
    page.screen.refresh();
    announce(one("[data-status]", held.node).textContent);
    return typeAhead.press(false);
  }

  /** What is right, after an answer in training or qualification; the person goes on when they have read it. */
  function showFeedback(held, html) {
    const feedback = one("[data-feedback]", nodesOf(html));
    one("[data-feedback]", held.node)?.remove();
    one(".answer", held.node).before(feedback);
    page.submitting.stopWaiting();
    held.stage = "review";
    page.screen.refresh();
    page.screen.showStatus(gettext("Saved. Read the answer, and go on."));
    feedback.focus({ preventScroll: true });
    feedback.scrollIntoView({ block: "nearest" });
    announce(feedback.textContent.replace(/\s+/g, " ").trim());
    typeAhead.drop(); // what was typed meanwhile must not go past it
  }

  function addSuggestions(held, entry, reply, isFirstReply) {
    held.suggest(reply.suggestions, entry.body.judgements); // there when looked back at
    // Before the first reply the page does not know that suggestions follow: it went on, and comes back while nothing was done.
    if (!isFirstReply || !held.isAwaited || page.item !== page.open || page.item?.isBegun() || held.isChanged() || !held.hasSuggestion()) return;
    held.stage = "review";
    page.screen.show(held);
    page.screen.showStatus(gettext("Saved. Keep your answer, or change it in view of the suggestion."));
  }

  /** What was taken for a first answer, or for the next change, came after one that this page does not know. */
  function showReplaced(assignment) {
    const text = gettext("You had answered this item before, on another device or in another browser. This answer has replaced that one, which stays in the item's history.");
    notice(`earlier:${assignment}`, "warning", text, [[gettext("Open the item"), () => page.walk.open(assignment)], DISMISS]);
  }

  function refused(entry, message, reply) {
    const { open } = page;
    page.status.count("refused");
    page.sent.delete(entry.assignment);
    if (entry.kind === "skip") notice("skipped");
    if (open?.payload.assignment === entry.assignment && open.stage === "waiting") {
      open.stage = "open";
      typeAhead.drop();
      page.submitting.stopWaiting();
    }
    if (page.item?.payload.assignment !== entry.assignment) trail.drop(entry.assignment); // what it shows is not stored
    page.ahead.receive(reply?.state === "empty" ? reply : null); // the person was removed
    const isSame = ({ refusal }) => refusal?.status === 403 && refusal.message === message;
    const same = page.outbox.unsent().filter(isSame);
    if (same.length > 1) {
      for (const one of same) notice(one.id);
      notice("refused", "error", ngettext("{n} answer was not accepted: {message}", "{n} answers were not accepted: {message}", same.length, { message }), [
        ...waysToKeep(() => page.outbox.unsent().filter(isSame)),
        [gettext("Discard them"), () => same.forEach(discard)],
      ]);
      return;
    }
    notice(entry.id, "error", entry.kind === "skip" ? gettext("A skip was not accepted: {message}", { message }) : gettext("An answer was not accepted: {message}", { message }), [
      ...(entry.kind === "submit" ? [[gettext("Open the item"), () => reopen(entry)]] : []),
      [gettext("Discard it"), () => discard(entry)],
    ]);
  }

  /** What is stored shows again where the item is on the screen. */
  async function discard(entry) {
    page.outbox.discard(entry.id);
    page.keeping.drop(entry.assignment);
    if (!page.outbox.has(entry.assignment)) page.sent.delete(entry.assignment);
    trail.drop(entry.assignment);
    const shown = page.item;
    if (shown?.payload.assignment !== entry.assignment || shown === page.open || isUnsent(shown)) return;
    const found = await page.walk.look(entry.assignment);
    if (found && page.item === shown && !isUnsent(shown)) page.screen.show(found);
  }

  async function reopen(entry) {
    const found = await page.walk.look(entry.assignment);
    if (!found) return refused(entry, entry.refusal?.message ?? gettext("the item cannot be opened now."));
    if (page.item?.stage === "waiting") return refused(entry, entry.refusal.message);
    return page.changes.leave(() => {
      found.fill(entry.body.judgements, entry.body.comment, entry.body.free_text);
      found.render();
      found.stage = "review";
      page.outbox.discard(entry.id);
      page.maker.save(found);
      page.screen.show(found);
      const aboutWords = entry.refusal?.errors?.find((error) => error.field === "free_text");
      if (aboutWords) {
        found.showWordsError(aboutWords.message);
        page.focusWords();
      }
    });
  }

  return {
    answered, refused,
    /** The item of an answer that waits for the person counts as shown: so the server gives another one to go on with. */
    wasSetAside({ assignment, body }) {
      server.shown(assignment, { at: body.shown_at ?? new Date().toISOString(), suggestions: false });
    },
    /** The outbox's state has changed. */
    state(state) {
      const { ahead, open, outbox } = page;
      page.changes.showSaving(state);
      page.status.show(state);
      if (state.isFailing) page.screen.report(open); // no answer says soon that it is shown
      showAside(state.aside, {
        again: outbox.again,
        copy: (answers, button) => copy(JSON.stringify(answers.map(({ kind, assignment, body }) => ({ kind, assignment, ...body })), null, 2), button),
        discard: (answers) => answers.filter((entry) => entry.isAside).forEach(discard), // later ones go on
      });
      if (one(".loading", stage)) page.screen.fetchSoon();
      if (!state.waiting || !open) return;
      if (open.stage === "waiting" && (state.isFailing || state.isSignedOut)) page.submitting.finish(open); // no suggestion will come soon
      else if (!ahead.isFull() && !state.isSignedOut && !outbox.isBusy()) ahead.fetch(); // no answer brings the next item
    },
    /** No item will come. What is on the screen can be finished, unless nothing of this person's is accepted any more. */
    ended({ outlook, message, html }) {
      const { item } = page;
      if (/removed|withdrawn/.test(outlook) && item) {
        page.maker.save(item);
        page.screen.showEmpty(html, 0);
      } else if (item) notice("ended", "warning", message, [DISMISS]);
    },
  };
}
