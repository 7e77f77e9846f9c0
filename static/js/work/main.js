// The labelling page: which item is on the screen, what happens when one is answered, and the way back and forth.
// The next item is fetched ahead, so an answer swaps the page at once and travels in the background.

import { createAhead } from "./ahead.js";
import { createChooser } from "./choosing.js";
import { createGuidelines } from "./guidelines.js";
import { createMaker } from "./making.js";
import { createDrafts, createOutbox, createServer, createStore, createTrail, uuid } from "./outbox.js";
import { afterPaint, announce, askReason, listenToButtons, listenToKeys, notice, one, openDialog, showProgress, showSaveState } from "./shell.js";
import { createHighlighter } from "./spans.js";

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
const trail = createTrail(space, work.dataset.recent.split(" ").filter(Boolean));

let item = null; // on the screen; null while there is nothing to label
let open = null; // the item that is not answered yet; differs from `item` while somebody looks back
let pollTimer = 0;
const sent = new Set(); // assignments this page answered or skipped; an offer of one of them crossed its answer
let waitTimer = 0;

function tell(text, kind = "") {
  const line = item && one("[data-status]", item.node);
  if (!line) return;
  if (line.textContent !== text) line.textContent = text;
  line.dataset.kind = kind;
}

// ---- items in and out ----

/** The status line and the submit button follow the item on the screen. */
function refresh() {
  if (!item) return;
  const missing = item.missing();
  const button = one(".submit", item.node);
  button.classList.toggle("is-ready", !missing);
  const isSeen = item.revision > 0 || item.stage === "review";
  one("[data-submit-text]", item.node).textContent = !isSeen ? "Submit" : item.isChanged ? "Send change" : item === open ? "Keep" : "Go on";
  if (item.stage === "waiting") tell("Saving your answer");
  else if (item.stage === "review" && !item.isChanged && item.hasSuggestion()) tell("Saved. Keep your answer, or change it in view of the suggestion.");
  else if (isSeen) tell(item.isChanged ? "Changed, not sent yet" : "You answered this one");
  else tell(missing ? missing.message : "Complete");
  showWays();
}

/** The ways out of this item. What the status line says stays: it may be the answer to the key just pressed. */
function showWays() {
  for (const way of item.node.querySelectorAll('[data-do="skip"], [data-do="flag"]')) way.hidden = item !== open || item.stage !== "open";
  one('[data-do="back"]').disabled = position() <= 0;
  one('[data-do="forward"]').disabled = item === open || (!open && position() >= trail.length() - 1 && !ahead.isKnown());
}

const position = () => {
  const index = item ? trail.indexOf(item.payload.assignment) : -1;
  return index < 0 || item === open ? trail.length() : index;
};

/** Whether an item has to wait until its reader has acknowledged newer guidelines: one that they have not begun. */
const waitsForGuidelines = (next) => guidelines.isPending() && next === open && next.stage === "open" && !next.isBegun();

function show(next) {
  if (waitsForGuidelines(next)) return showGuidelines();
  highlighter.leave();
  item?.timer.stop();
  clearTimeout(waitTimer);
  clearTimeout(pollTimer);
  item = next;
  stage.replaceChildren(next.node);
  const isFirst = !next.shownAt;
  if (next.stage === "sent" && !next.isChanged) {
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
  announce(`${isFirst ? "New item" : "Item"}. ${next.node.getAttribute("aria-label")}`);
}

/** Instead of the open item, which is on the screen again once the person has acknowledged them. */
function showGuidelines() {
  highlighter.leave();
  item?.timer.stop();
  clearTimeout(pollTimer);
  item = null;
  guidelines.show(stage);
  window.scrollTo(0, 0);
  one('[data-do="back"]').disabled = !trail.length();
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
  highlighter.leave();
  item?.timer.stop();
  item = open = null;
  const template = document.createElement("template");
  template.innerHTML = html;
  stage.replaceChildren(template.content.cloneNode(true));
  stage.focus({ preventScroll: true });
  one('[data-do="back"]').disabled = !trail.length();
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
  const isSeen = answered.revision > 0 || answered.stage === "review";
  if (isSeen && !answered.isChanged) return isOpen ? finish(answered) : forward();
  const missing = answered.missing();
  if (missing) {
    tell(missing.message, "missing");
    return missing.group ? chooser.focus(missing.group) : missing.element.focus();
  }
  const { minimum_seconds: minimum = 0, assignment, prefill } = answered.payload;
  const left = Math.ceil(minimum - (Date.now() - Date.parse(answered.shownAt)) / 1000);
  if (left > 0 && !isSeen) return tell(`Please take ${left} more second${left === 1 ? "" : "s"} for this item`, "missing");

  const waits = prefill === "after" && isOpen && !isSeen && navigator.onLine;
  const body = {
    client_id: uuid(), shown_at: answered.shownAt, submitted_at: now(), active_ms: answered.timer.total(), comment: answered.comment(),
    text_hash: answered.payload.text_hash, guideline_version: guidelines.known(),
    options_version: answered.payload.options_version,
    suggestions_shown_at: outbox.paintedAt(assignment) ?? answered.paintedAt(),
    judgements: answered.judgements(), want_next: isOpen,
    ...(answered.payload.free_text ? { free_text: answered.freeText() } : {}),
  };
  answered.isChanged = false;
  answered.revision += 1;
  answered.stage = waits ? "waiting" : "sent";
  if (waits) waitTimer = setTimeout(() => finish(answered), SUGGESTION_WAIT_MS);
  else if (isOpen) finish(answered);
  else forward();
  trail.add(assignment, answered);
  refresh();
  sent.add(assignment);
  // After the page has changed: writing to the store takes time that the person would see.
  outbox.add("submit", assignment, server.submitUrl(assignment), body);
  drafts.remove(assignment);
}

function finish(answered) {
  clearTimeout(waitTimer);
  answered.stage = "sent";
  drafts.remove(answered.payload.assignment);
  if (answered === open) advance();
}

function stateChanged(state) {
  showSaveState(state, { signIn: () => window.open(work.dataset.loginUrl || "/", "_blank", "noopener"), retry: () => outbox.retry() });
  if (one(".loading", stage)) fetchSoon();
  if (!state.waiting || !open) return;
  if (open.stage === "waiting" && (state.isFailing || state.isSignedOut)) finish(open); // no suggestion will come soon
  else if (!ahead.isKnown() && !state.isSignedOut && !outbox.isBusy()) ahead.fetch(); // no answer brings the next item
}

function answered(entry, reply) {
  sent.add(entry.assignment); // also one that waited since before a reload
  showProgress(reply.progress);
  told(reply.guidelines);
  const held = item?.payload.assignment === entry.assignment ? item : trail.page(entry.assignment);
  if (held && reply.revision) held.revision = Math.max(held.revision, reply.revision);
  if (reply.surplus) notice("surplus", "warning", "One answer came after its time had run out and somebody else had taken the item. It is kept as an extra judgement.", [["Dismiss", () => {}]]);
  if (held && held === open && held.stage === "waiting") {
    held.suggest(reply.suggestions ?? []);
    if (held.hasSuggestion()) {
      clearTimeout(waitTimer);
      held.stage = "review";
      chooser.focus(held.groups.find((group) => reply.suggestions.some((one) => one.unit === group.unit && one.dimension === group.dimension.slug && held.isAsked(group))) ?? held.current());
      refresh();
      announce(one("[data-status]", held.node).textContent);
    } else finish(held);
  } else if (held && reply.suggestions?.length) held.suggest(reply.suggestions); // too late to wait for; there when looked back at
  const next = () => {
    ahead.receive(reply.ahead);
    if (!ahead.isKnown() && open) fetchSoon();
  };
  if (item) afterPaint(next);
  else next();
}

function refused(entry, message) {
  const what = entry.kind === "skip" ? "A skip" : "An answer";
  sent.delete(entry.assignment);
  if (open?.payload.assignment === entry.assignment && open.stage === "waiting") {
    open.stage = "open";
    clearTimeout(waitTimer);
  }
  notice(entry.id, "error", `${what} was not accepted: ${message}`, [
    ...(entry.kind === "submit" ? [["Open the item", () => reopen(entry)]] : []),
    ["Discard it", () => outbox.discard(entry.id)],
  ]);
}

async function reopen(entry) {
  const found = await look(entry.assignment);
  if (!found) return refused(entry, entry.refusal?.message ?? "the item cannot be opened now.");
  found.fill(entry.body.judgements, entry.body.comment, entry.body.free_text);
  found.render();
  found.isChanged = true;
  found.stage = "review";
  outbox.discard(entry.id);
  maker.save(found);
  show(found);
  const aboutWords = entry.refusal?.errors?.find((error) => error.field === "free_text");
  if (aboutWords) {
    found.showWordsError(aboutWords.message);
    actions.words();
  }
}

function skip(reason, isFlagged) {
  const skipped = item;
  const { assignment } = skipped.payload;
  drafts.remove(assignment);
  skipped.stage = "sent";
  sent.add(assignment);
  advance();
  outbox.add("skip", assignment, server.skipUrl(assignment), {
    client_id: uuid(), reason, flag: isFlagged, want_next: true, guideline_version: guidelines.known(),
  });
}

function askSkip(isFlagged) {
  if (!item || item !== open || item.stage !== "open") return tell("Only an item that is not answered yet can be skipped");
  return askReason(isFlagged, (reason) => skip(reason, isFlagged));
}

// ---- back and forth ----

/** An item that was answered before: as it stands on this page, or from the server. */
async function look(assignment) {
  if (open?.payload.assignment === assignment) return open;
  if (trail.page(assignment)) return trail.page(assignment);
  try {
    const { html, payload } = await server.item(assignment);
    const found = maker.build(html, payload);
    trail.keep(assignment, found);
    return found;
  } catch (error) {
    if (["404", "410"].includes(error.message)) trail.forget(assignment);
    tell("That item cannot be opened now", "missing");
    return null;
  }
}

async function back() {
  const index = position() - 1;
  if (index < 0) return tell("This is the first item that this browser remembers");
  const from = item;
  const found = await look(trail.at(index));
  if (found && item === from) show(found);
}

async function forward() {
  if (item && item === open) return tell(open.missing()?.message ?? "Press Enter to submit this item first", "missing");
  const index = position() + 1;
  if (index >= trail.length()) return open ? show(open) : advance();
  const from = item;
  const found = await look(trail.at(index));
  if (found && item === from) show(found);
}

function undo() {
  if (item?.stage === "waiting") return undefined;
  const group = item?.undo();
  if (!group) return back();
  chooser.focus(group);
  return announce("Undone");
}

// ---- buttons and keys ----

const maker = createMaker(drafts, refresh, (painted) => {
  const { assignment } = painted.payload;
  outbox.painted(assignment, server.shownUrl(assignment), painted.suggestionsShownAt);
});
const ahead = createAhead(server, maker.build, {
  open: () => open,
  isIdle: () => !item && !open,
  isAnswered: (assignment) => sent.has(assignment) || outbox.has(assignment),
  isSending: () => outbox.isWaiting(),
  advance,
  told,
  changed: () => item && showWays(),
  unreachable: showUnreachable,
});
const outbox = createOutbox(space, server.token, { answered, refused, newest: ahead.newest, state: stateChanged });
const highlighter = createHighlighter(stage, () => item, { announce, tell, focus: () => chooser.comeBack(), left: refresh });
const chooser = createChooser(stage, () => item, { announce, tell, refresh }, highlighter);

const actions = {
  submit, back, forward, undo,
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
    else tell("This task asks nothing in words; a comment is c");
  },
};

listenToButtons(actions);
listenToKeys(actions, {
  isOn: () => settings.get("single-keys") !== false,
  first: (event) => chooser.naming(event) || highlighter.key(event),
  own: chooser.key,
});
one("[data-single-keys]").checked = settings.get("single-keys") !== false;
one("[data-single-keys]").addEventListener("change", (event) => settings.set("single-keys", event.target.checked));

window.addEventListener("pagehide", () => {
  if (item) maker.save(item);
  ahead.giveBack();
});
window.addEventListener("pageshow", (event) => event.persisted && ahead.fetch());
window.addEventListener("storage", (event) => {
  // Answered in another tab, whether it is on the screen here, fetched ahead, or still on its way from the server.
  if (!event.key?.startsWith(`assay:outbox:${space}:`) || !event.newValue) return;
  const { kind, assignment, refusal, body } = JSON.parse(event.newValue);
  if (kind === "acknowledge") return void (guidelines.acknowledgedElsewhere(body.version) && !item && goOn());
  if (refusal) return void sent.delete(assignment);
  sent.add(assignment);
  ahead.forget(assignment);
  if (open?.stage === "open" && open.payload.assignment === assignment) {
    notice("other-tab", "warning", "The item that was here has been answered in another tab.", [["Dismiss", () => {}]]);
    open.stage = "sent";
    advance();
  }
});

// ---- the first item ----

const newer = one("template[data-newer-guidelines]");
if (newer) told({ version: Number(newer.dataset.newerGuidelines), html: newer.innerHTML });
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
  one('[data-do="back"]').disabled = !trail.length();
  const seconds = Number(work.dataset.retrySeconds);
  if (seconds > 0) pollTimer = setTimeout(ahead.lookAgain, seconds * 1000);
}
stage.hidden = false;
outbox.start();
