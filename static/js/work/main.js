// The labelling page: which item is on the screen, and what happens when one is answered.
// The next item is fetched ahead, so an answer swaps the page at once and travels in the background.

import { createAhead } from "./ahead.js";
import { createChooser } from "./choosing.js";
import { askReason, askUnsent, openDialog } from "./dialogs.js";
import { createGuidelines } from "./guidelines.js";
import { createMaker } from "./making.js";
import { createOutbox } from "./sending/outbox.js";
import { createServer } from "./sending/server.js";
import { createDrafts, createStore, uuid } from "./sending/store.js";
import { afterPaint, announce, copy, introduce, listenToButtons, listenToKeys, notice, one, showAside, showProgress, showSaveState } from "./shell.js";
import { createHighlighter } from "./highlights/highlighter.js";
import { createInquirer } from "./suggesting.js";
import { createTrail } from "./trail.js";
import { createTypeAhead } from "./typeahead.js";
import { createWalk } from "./walking.js";

const work = document.getElementById("work");
const stage = document.getElementById("stage");
const space = `${work.dataset.project}:${work.dataset.user}`;
const now = () => new Date().toISOString();

const SUGGESTION_WAIT_MS = 4000; // how long an answer waits for the suggestion that follows it
const LOADING_WAIT_MS = 2000; // how long an empty page waits for the item that an answer under way brings
const drafts = createDrafts(space);
const settings = createStore(`assay:settings:${work.dataset.user}:`);
const server = createServer(work.dataset);
const guidelines = createGuidelines(work);
const trail = createTrail(server, work.dataset.recent.split(" ").filter(Boolean), "hasOlder" in work.dataset, Number(work.dataset.answered));
// An answer waits for suggestions, or the page for its next item.
const typeAhead = createTypeAhead(() => item?.stage === "waiting" || (!item && one(".loading", stage) !== null));

let item = null; // on the screen; null while there is nothing to label
let open = null; // the item that is not answered yet; differs from `item` while somebody looks back
let pollTimer = 0;
const sent = new Set(); // assignments this page answered or skipped; an offer of one of them crossed its answer
let waitTimer = 0;
let prefill = ""; // when suggestions are shown here, as the newest reply to an answer says; empty before the first
let saving = { waiting: 0, refused: [], aside: [], isSafe: true }; // the outbox's state

function tell(text, kind = "") {
  const line = item && one("[data-status]", item.node);
  if (!line) return;
  if (line.textContent !== text) line.textContent = text;
  line.dataset.kind = kind;
}

// ---- items in and out ----

/** The status line and the submit button follow the item on the screen. */
function refresh() {
  showSaving();
  if (!item) return;
  const missing = item.missing();
  const button = one(".submit", item.node);
  button.classList.toggle("is-ready", !missing);
  const [isAnswered, isChanged] = [isSeen(item), isUnsent(item)];
  one("[data-submit-text]", item.node).textContent = !isAnswered ? "Submit" : isChanged ? "Send change" : item === open || item.stage === "review" ? "Keep" : "Go on";
  if (item.stage === "waiting") tell("Saving your answer");
  else if (item.stage === "review" && !isChanged && item.hasSuggestion()) tell("Saved. Keep your answer, or change it in view of the suggestion.");
  else if (isAnswered) tell(isChanged ? "Changed, not sent yet" : "You answered this one");
  else tell(missing ? missing.message : "Complete");
  showWays();
  inquire(item);
}

/** The ways out of this item. What the status line says stays: it may be the answer to the key just pressed. */
function showWays() {
  for (const way of item.node.querySelectorAll('[data-do="skip"], [data-do="flag"]')) way.hidden = item !== open || item.stage !== "open";
  one('[data-do="back"]').disabled = walk.position() <= 0 && !trail.hasOlder();
  one('[data-do="forward"]').disabled = item === open || (!open && walk.position() >= trail.length() - 1 && !ahead.isKnown());
}

/** Whether an item has to wait until its reader has acknowledged newer guidelines: one that they have not begun. */
const waitsForGuidelines = (next) => guidelines.isPending() && next === open && next.stage === "open" && !next.isBegun();

function show(next) {
  if (waitsForGuidelines(next)) return showGuidelines();
  highlighter.leave();
  item?.timer.stop();
  clearTimeout(waitTimer);
  clearTimeout(pollTimer);
  item = next;
  notice(unsentName(next.payload.assignment)); // it is on the screen
  stage.replaceChildren(next.node);
  const isFirst = !next.shownAt;
  if (next.stage === "sent" && !next.isChanged()) {
    next.shownAt = null; // a later revision has its own times
    next.timer.reset();
  }
  next.shownAt ??= now();
  next.timer.start();
  next.setCurrent(next.missing()?.group ?? next.groups.find(next.isAsked));
  refresh();
  window.scrollTo(0, 0);
  next.current().box.focus({ preventScroll: true });
  performance.mark("assay:shown");
  if (next.stage === "open" && !next.isReported) {
    next.isReported = true;
    setTimeout(() => server.shown(next.payload.assignment, { at: next.shownAt }), 0); // after the paint
  }
  announce(`${isFirst && next.stage === "open" ? "New. " : ""}${introduce(next, trail.numberOf(next.payload.assignment))}`);
  typeAhead.press(true);
}

/** Instead of the open item, which is on the screen again once the person has acknowledged them. */
function showGuidelines() {
  typeAhead.drop();
  highlighter.leave();
  item?.timer.stop();
  clearTimeout(pollTimer);
  item = null;
  guidelines.show(stage);
  window.scrollTo(0, 0);
  one('[data-do="back"]').disabled = !trail.length() && !trail.hasOlder();
  one('[data-do="forward"]').disabled = true;
  announce(one("h2", stage).textContent);
}

function goOn() {
  if (open) show(open);
  else advance();
}

/** What came from the server about guidelines that are newer than those this page knows. */
function told(newer) {
  guidelines.hear(newer, outbox.acknowledged());
  if (item && waitsForGuidelines(item)) showGuidelines();
}

function showEmpty(html, retrySeconds) {
  typeAhead.drop();
  highlighter.leave();
  item?.timer.stop();
  item = open = null;
  notice("ended"); // the page says it
  const template = document.createElement("template");
  template.innerHTML = html;
  stage.replaceChildren(template.content.cloneNode(true));
  stage.focus({ preventScroll: true });
  one('[data-do="back"]').disabled = !trail.length() && !trail.hasOlder();
  one('[data-do="forward"]').disabled = true;
  announce(one("h2", stage)?.textContent ?? "");
  clearTimeout(pollTimer);
  if (retrySeconds > 0) pollTimer = setTimeout(ahead.lookAgain, retrySeconds * 1000);
}

function showLoading() {
  item?.timer.stop();
  item = open = null;
  stage.replaceChildren(Object.assign(document.createElement("p"), { className: "loading", textContent: "Fetching the next item" }));
  pollTimer = setTimeout(ahead.fetch, LOADING_WAIT_MS);
  fetchSoon();
}

function showUnreachable(error) {
  showEmpty("", 0);
  stage.append(document.importNode(one("template[data-offline]").content, true));
  if (error.reply?.signed_in) one(".work-empty p", stage).textContent = error.reply.message;
  pollTimer = setTimeout(ahead.lookAgain, error.message === "401" ? 30000 : 5000);
}

/** From an answered item to the next one. */
function advance() {
  open = null;
  const next = ahead.take();
  if (next?.item) {
    open = next.item;
    show(open);
    fetchSoon();
  } else if (next) {
    showEmpty(next.empty, next.retry);
  } else showLoading();
}

/** The answer to a submit usually brings the next item along; ask only when it did not. */
function fetchSoon() {
  setTimeout(() => ahead.isKnown() || outbox.isBusy() || ahead.fetch(), 0);
}

// ---- answering ----

function submit() {
  if (!item || item.stage === "waiting") return;
  const answered = item;
  const isOpen = answered === open;
  const isAgain = isSeen(answered);
  if (isAgain && !answered.isChanged()) return isOpen ? finish(answered) : walk.forward();
  const missing = answered.missing();
  if (missing) {
    tell(missing.message, "missing");
    return missing.group ? chooser.focus(missing.group) : missing.element.focus();
  }
  const { minimum_seconds: minimum = 0, assignment } = answered.payload;
  const left = Math.ceil(minimum - (Date.now() - Date.parse(answered.shownAt)) / 1000);
  if (left > 0 && !isAgain) return tell(`Please take ${left} more second${left === 1 ? "" : "s"} for this item`, "missing");

  const waits = prefill === "after" && isOpen && !isAgain && navigator.onLine;
  const body = bodyOf(answered, isOpen);
  answered.markSent();
  notice("skipped");
  trail.add(answered.payload.assignment); // the next one has the next number
  answered.revision += 1;
  answered.stage = waits ? "waiting" : "sent";
  if (prefill === "") {
    answered.isAwaited = true;
    setTimeout(() => (answered.isAwaited = false), SUGGESTION_WAIT_MS);
  }
  if (waits) waitTimer = setTimeout(() => finish(answered), SUGGESTION_WAIT_MS);
  else if (isOpen) finish(answered);
  else walk.forward();
  refresh();
  // After the page has changed: writing to the store takes time that the person would see.
  queue(answered, body);
}

const bodyOf = (answered, wantsNext) => ({
  client_id: uuid(), shown_at: answered.shownAt, submitted_at: now(), active_ms: answered.timer.total(), comment: answered.comment(),
  text_hash: answered.payload.text_hash, guideline_version: guidelines.known(),
  options_version: answered.payload.options_version,
  suggestions_shown_at: outbox.paintedAt(answered.payload.assignment) ?? answered.paintedAt(),
  judgements: answered.judgements(), want_next: wantsNext,
  ...(answered.payload.free_text ? { free_text: answered.freeText() } : {}),
});

function queue(answered, body, isLeaving = false) {
  const { assignment } = answered.payload;
  trail.add(assignment);
  trail.keep(assignment, answered);
  sent.add(assignment);
  outbox.add("submit", assignment, server.submitUrl(assignment), body, { isLeaving, revision: answered.revision });
  drafts.remove(assignment);
}

// ---- changes of what was answered: none is left behind unsent ----

const isSeen = (one) => one.revision > 0 || one.stage === "review";
const isUnsent = (one) => one !== null && one.stage !== "waiting" && isSeen(one) && one.isChanged();

function sendChange(changed, isLeaving = false) {
  const body = bodyOf(changed, false);
  changed.markSent();
  changed.revision += 1;
  if (changed !== open) changed.stage = "sent";
  queue(changed, body, isLeaving);
}

/** `go()` away from the item on the screen. A changed answer is sent; where it is not complete, the person decides. */
function leave(go) {
  if (item?.stage === "waiting") return tell("Saving your answer");
  if (!isUnsent(item)) return go();
  const missing = item.missing();
  if (!missing) {
    sendChange(item);
    return go();
  }
  const left = item;
  return askUnsent(missing.message, {
    keep: () => (missing.group ? chooser.focus(missing.group) : missing.element.focus()),
    discard() {
      drafts.remove(left.payload.assignment);
      if (left.wasSent()) left.revert();
      else trail.drop(left.payload.assignment);
      if (left !== open) left.stage = "sent";
      announce("The change is discarded");
      go();
    },
  });
}

const unsentName = (assignment) => `unsent:${assignment}`;

/** A change that an earlier visit left, as it was not complete. */
function offerUnsent(assignment) {
  notice(unsentName(assignment), "warning", "You changed an answer here and the change was not sent. The answer is stored as it was before.", [
    ["Open the item", async () => (await walk.open(assignment)) || offerUnsent(assignment)],
    ["Discard the change", () => {
      drafts.remove(assignment);
      notice(unsentName(assignment));
      showSaving();
    }],
  ]);
}

function showSaving() {
  const hasUnsent = isUnsent(item) || one('[data-notice^="unsent:"]') !== null;
  showSaveState({ ...saving, hasUnsent }, work.dataset, () => outbox.retry());
}

function finish(answered) {
  clearTimeout(waitTimer);
  if (answered.isChanged()) { // by somebody who went on while their answer was on its way
    answered.stage = "review";
    typeAhead.press(false);
    return refresh();
  }
  answered.stage = "sent";
  drafts.remove(answered.payload.assignment);
  if (answered === open) advance();
}

function stateChanged(state) {
  saving = state;
  showSaving();
  showAside(state.aside, {
    again: outbox.again,
    copy: (answers, button) => copy(JSON.stringify(answers.map(({ kind, assignment, body }) => ({ kind, assignment, ...body })), null, 2), button),
    discard: (answers) => answers.filter((entry) => entry.isAside).forEach(discard), // later ones go on
  });
  if (one(".loading", stage)) fetchSoon();
  if (!state.waiting || !open) return;
  if (open.stage === "waiting" && (state.isFailing || state.isSignedOut)) finish(open); // no suggestion will come soon
  else if (!ahead.isKnown() && !state.isSignedOut && !outbox.isBusy()) ahead.fetch(); // no answer brings the next item
}

function answered(entry, reply) {
  const isFirstReply = prefill === "";
  prefill = reply.prefill ?? prefill;
  sent.add(entry.assignment); // also one that waited since before a reload
  showProgress(reply.progress);
  told(reply.guidelines);
  const held = item?.payload.assignment === entry.assignment ? item : trail.page(entry.assignment);
  if (held && reply.revision) held.revision = Math.max(held.revision, reply.revision);
  if (entry.revision && reply.revision > entry.revision) tellEarlier(entry.assignment);
  if (reply.surplus) notice("surplus", "warning", "One answer came after its time had run out and somebody else had taken the item. It is kept as an extra judgement.", [["Dismiss", () => {}]]);
  if (held && held === open && held.stage === "waiting") {
    held.suggest(reply.suggestions ?? [], entry.body.judgements);
    if (reply.suggestions?.length && held.hasSuggestion()) {
      clearTimeout(waitTimer);
      held.stage = "review";
      chooser.focus(held.groups.find((group) => reply.suggestions.some((one) => one.unit === group.unit && one.dimension === group.dimension.slug && held.isAsked(group))) ?? held.current());
      refresh();
      announce(one("[data-status]", held.node).textContent);
      typeAhead.press(false);
    } else finish(held);
  } else if (held && reply.suggestions?.length) {
    held.suggest(reply.suggestions, entry.body.judgements); // there when looked back at
    // Before the first reply the page does not know that suggestions follow: it went on, and comes back while nothing was done.
    if (isFirstReply && held.isAwaited && item === open && !item?.isBegun() && !held.isChanged() && held.hasSuggestion()) {
      held.stage = "review";
      show(held);
      tell("Saved. Keep your answer, or change it in view of the suggestion.");
    }
  }
  if (item) inquire(item); // it may be asked more by now than the answer was
  const next = () => {
    ahead.receive(reply.ahead);
    if (!ahead.isKnown() && open) fetchSoon();
  };
  if (item) afterPaint(next);
  else next();
}

/** What was taken for a first answer, or for the next change, came after one that this page does not know. */
function tellEarlier(assignment) {
  const text = "You had answered this item before, on another device or in another browser. This answer has replaced that one, which stays in the item's history.";
  notice(`earlier:${assignment}`, "warning", text, [["Open the item", () => walk.open(assignment)], ["Dismiss", () => {}]]);
}

/** The item of an answer that waits for the person counts as shown: so the server gives another one to go on with. */
function wasSetAside({ assignment, body }) {
  server.shown(assignment, { at: body.shown_at ?? now(), suggestions: false });
}

/** No item will come. What is on the screen can be finished, unless nothing of this person's is taken any more. */
function ended({ outlook, message, html }) {
  if (outlook === "removed" && item) {
    maker.save(item);
    showEmpty(html, 0);
  } else if (item) notice("ended", "warning", message, [["Dismiss", () => {}]]);
}

function refused(entry, message, reply) {
  const what = entry.kind === "skip" ? "A skip" : "An answer";
  sent.delete(entry.assignment);
  if (entry.kind === "skip") notice("skipped");
  if (open?.payload.assignment === entry.assignment && open.stage === "waiting") {
    open.stage = "open";
    typeAhead.drop();
    clearTimeout(waitTimer);
  }
  if (item?.payload.assignment !== entry.assignment) trail.drop(entry.assignment); // what it shows is not stored
  ahead.receive(reply?.state === "empty" ? reply : null); // the person was removed
  notice(entry.id, "error", `${what} was not accepted: ${message}`, [
    ...(entry.kind === "submit" ? [["Open the item", () => reopen(entry)]] : []),
    ["Discard it", () => discard(entry)],
  ]);
}

/** What is stored shows again where the item is on the screen. */
async function discard(entry) {
  outbox.discard(entry.id);
  if (!outbox.has(entry.assignment)) sent.delete(entry.assignment);
  trail.drop(entry.assignment);
  const shown = item;
  if (shown?.payload.assignment !== entry.assignment || shown === open || isUnsent(shown)) return;
  const found = await walk.look(entry.assignment);
  if (found && item === shown && !isUnsent(shown)) show(found);
}

async function reopen(entry) {
  const found = await walk.look(entry.assignment);
  if (!found) return refused(entry, entry.refusal?.message ?? "the item cannot be opened now.");
  if (item?.stage === "waiting") return refused(entry, entry.refusal.message);
  leave(() => {
    found.fill(entry.body.judgements, entry.body.comment, entry.body.free_text);
    found.render();
    found.stage = "review";
    outbox.discard(entry.id);
    maker.save(found);
    show(found);
    const aboutWords = entry.refusal?.errors?.find((error) => error.field === "free_text");
    if (aboutWords) {
      found.showWordsError(aboutWords.message);
      actions.words();
    }
  });
}

function skip(reason, isFlagged) {
  const skipped = item;
  const { assignment } = skipped.payload;
  drafts.remove(assignment);
  skipped.stage = "sent";
  sent.add(assignment);
  advance();
  notice("skipped", "info", isFlagged ? "Flagged and skipped." : "Skipped.", [["Take it back under Your answers", work.dataset.ownAnswersUrl], ["Dismiss", () => {}]]);
  outbox.add("skip", assignment, server.skipUrl(assignment), {
    client_id: uuid(), reason, flag: isFlagged, want_next: true, guideline_version: guidelines.known(),
  });
}

function askSkip(isFlagged) {
  if (!item || item !== open || item.stage !== "open") return tell("Only an item that is not answered yet can be skipped");
  return askReason(isFlagged, (reason) => skip(reason, isFlagged));
}

function undo() {
  if (item?.stage === "waiting") return undefined;
  const group = item?.undo();
  if (!group) return walk.back();
  chooser.focus(group);
  return announce("Undone");
}

// ---- buttons and keys ----

const maker = createMaker(drafts, {
  changed: refresh,
  waiting: (assignment) => outbox.waiting().findLast((entry) => entry.assignment === assignment)?.body,
  painted(item) {
    const { assignment } = item.payload;
    outbox.painted(assignment, server.shownUrl(assignment), item.suggestionsShownAt);
  },
});
const walk = createWalk(trail, server, maker.build, { item: () => item, open: () => open, show, advance, leave, tell, changed: showWays });
const ahead = createAhead(server, maker.build, {
  open: () => open,
  isIdle: () => !item && !open,
  isAnswered: (assignment) => sent.has(assignment) || outbox.has(assignment),
  isSending: () => outbox.isWaiting(),
  aside: () => outbox.aside(),
  ended,
  goesOn: () => notice("ended"),
  advance,
  told,
  changed: () => item && showWays(),
  unreachable: showUnreachable,
});
const outbox = createOutbox(space, server.headers, {
  answered, refused, wasSetAside, newest: ahead.newest, state: stateChanged, isServing: server.isServing,
});
/** Whether suggestions may be shown on an item now: `after`, once the server has the person's answer. */
const maySee = ({ payload: { assignment }, revision, stage }) => prefill === "shown"
  || (prefill === "" && revision === 0)
  || (["", "after"].includes(prefill) && revision > 0 && stage !== "waiting" && !outbox.has(assignment));
const inquire = createInquirer(server, maySee);
const highlighter = createHighlighter(stage, () => item, { announce, tell, focus: () => chooser.comeBack(), left: refresh });
const chooser = createChooser(stage, () => item, { announce, tell, refresh }, highlighter);

const actions = {
  submit, undo,
  back: walk.back,
  forward: walk.forward,
  accept: chooser.accept,
  pick: chooser.pick,
  whole: chooser.whole,
  only: chooser.only,
  up: chooser.up,
  down: chooser.down,
  highlight: highlighter.start,
  help: () => openDialog("help"),
  guidelines: () => guidelines.known() && openDialog("guidelines"),
  acknowledge() {
    const version = guidelines.acknowledge();
    if (!version) return;
    outbox.acknowledge(work.dataset.acknowledgeUrl, version);
    if (!item) goOn();
  },
  skip: () => askSkip(false),
  flag: () => askSkip(true),
  retry: ahead.lookAgain,
  comment() {
    if (!item) return;
    one("[data-comment-box]", item.node).open = true;
    one("[data-comment]", item.node).focus();
  },
  words() {
    const box = item && one("[data-free-text]", item.node);
    if (box) box.focus();
    else tell("This task has no free-text question; press c to comment");
  },
};

listenToButtons(actions);
listenToKeys(actions, {
  keeps: typeAhead.keeps,
  isOn: () => settings.get("single-keys") !== false,
  first: (event) => chooser.naming(event) || highlighter.key(event),
  own: chooser.key,
});
one("[data-single-keys]").checked = settings.get("single-keys") !== false;
one("[data-single-keys]").addEventListener("change", (event) => settings.set("single-keys", event.target.checked));

window.addEventListener("pagehide", () => {
  if (isUnsent(item) && !item.missing()) sendChange(item, true);
  else if (item) maker.save(item);
  ahead.giveBack();
});
window.addEventListener("beforeunload", (event) => isUnsent(item) && item.missing() && event.preventDefault());
window.addEventListener("pageshow", (event) => event.persisted && ahead.fetch());
window.addEventListener("storage", (event) => {
  // Answered in another tab, whether it is on the screen here, fetched ahead, or still on its way from the server.
  if (!event.key?.startsWith(`assay:outbox:${space}:`) || !event.newValue) return;
  const { assignment, refusal, kind, body } = JSON.parse(event.newValue);
  if (kind === "acknowledge") return void (guidelines.acknowledgedElsewhere(body.version) && !item && goOn());
  if (refusal) return void sent.delete(assignment);
  sent.add(assignment);
  if (kind === "submit" && body.want_next) trail.add(assignment);
  ahead.forget(assignment);
  if (open?.stage === "open" && open.payload.assignment === assignment) {
    notice("other-tab", "warning", "The item that was here has been answered in another tab.", [["Dismiss", () => {}]]);
    open.stage = "sent";
    if (item === open) advance();
    else open = null; // the person is at an earlier item
  }
});

// ---- the first item ----

const newer = one("template[data-newer-guidelines]");
if (newer) told({ version: Number(newer.dataset.newerGuidelines), html: newer.innerHTML });
for (const entry of outbox.waiting()) if (entry.body.want_next) trail.add(entry.assignment); // first answers
const first = one("[data-item]", stage);
if (first) {
  const made = maker.make(first);
  open = made;
  if (outbox.isSettled(made.payload.assignment)) {
    // Answered or skipped before the reload, and on its way or stored while this page was: the server says which is next.
    made.stage = "sent";
    advance();
  } else {
    show(made);
    ahead.fetch();
  }
} else {
  one('[data-do="back"]').disabled = !trail.length() && !trail.hasOlder();
  const seconds = Number(work.dataset.retrySeconds);
  if (seconds > 0) pollTimer = setTimeout(ahead.lookAgain, seconds * 1000);
}
stage.hidden = false;
for (const assignment of drafts.keys()) {
  if (drafts.get(assignment)?.revision > 0 && item?.payload.assignment !== assignment) offerUnsent(assignment);
}
outbox.start();
