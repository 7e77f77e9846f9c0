// The labelling page: which item is on the screen, what happens when one is answered, and the way back and forth.
// The next item is fetched ahead, so an answer swaps the page at once and travels in the background.

import { createItem } from "./answers.js";
import { listen } from "./keys.js";
import { createDrafts, createOutbox, createStore, uuid } from "./outbox.js";
import { createCaret, selected } from "./spans.js";

const work = document.getElementById("work");
const stage = document.getElementById("stage");
const { nextUrl, submitUrl, skipUrl, releaseUrl, shownUrl, itemUrl } = work.dataset;
const space = `${work.dataset.project}:${work.dataset.user}`;
const urlOf = (template, assignment) => template.replace("__assignment__", encodeURIComponent(assignment));
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? work.dataset.csrf;
const now = () => new Date().toISOString();
const one = (selector, root = document) => root.querySelector(selector);

const numbers = new Intl.NumberFormat("en");
const SUGGESTION_WAIT_MS = 4000; // how long an answer waits for the suggestion that follows it
const TRAIL_LENGTH = 50;
const KEPT_ITEMS = 20;

const drafts = createDrafts(space);
const settings = createStore(`assay:settings:${work.dataset.user}:`);
const trails = createStore(`assay:trail:${space}:`);

let item = null; // on the screen; null while there is nothing to label
let open = null; // the item that is not answered yet; differs from `item` while somebody looks back
let ahead = null; // {item, at} fetched but never shown, or {empty, retry}
let fetching = null;
let caret = null;
let skipMode = false;
let pollTimer = 0;
let leaseTimer = 0;
let waitTimer = 0;
const kept = new Map(); // assignment -> item answered on this page
let trail = [...new Set([...(work.dataset.recent.split(" ").filter(Boolean)), ...(trails.get("") ?? [])])].slice(-TRAIL_LENGTH);

// ---- words to the person ----

function announce(text) {
  one("[data-announce]").textContent = text;
}

function tell(text, kind = "") {
  const line = item && one("[data-status]", item.node);
  if (!line) return;
  if (line.textContent !== text) line.textContent = text;
  line.dataset.kind = kind;
}

function notice(id, kind, text, buttons = []) {
  one(`[data-notice="${CSS.escape(id)}"]`)?.remove();
  if (!text) return;
  const box = Object.assign(document.createElement("div"), { className: `message ${kind}` });
  box.dataset.notice = id;
  box.setAttribute("role", kind === "error" ? "alert" : "status");
  box.append(Object.assign(document.createElement("p"), { textContent: text }));
  for (const [title, act] of buttons) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: title });
    button.addEventListener("click", () => {
      box.remove();
      act();
    });
    box.append(button);
  }
  one("[data-notices]").append(box);
}

function showState({ waiting, sending, refused, isSignedOut, isSafe }) {
  const indicator = one("[data-save-state]");
  const [state, text] = isSignedOut && waiting ? ["blocked", `Signed out: ${waiting} kept here`]
    : refused.length ? ["blocked", `${refused.length} not accepted`]
    : waiting && !sending ? ["waiting", `${waiting} waiting to be sent`]
    : waiting ? ["saving", waiting > 1 ? `Saving ${waiting}` : "Saving"]
    : ["saved", "Saved"];
  indicator.dataset.saveState = state;
  const words = one("[data-save-text]");
  if (words.textContent !== text) words.textContent = text;
  const here = "Nothing is lost: it stays in this browser and is sent once you are signed in again.";
  const signIn = [["Sign in", () => window.open(work.dataset.loginUrl || "/", "_blank", "noopener")], ["Try again", () => outbox.retry()]];
  notice("signed-out", "error", isSignedOut && waiting ? `You are signed out. ${waiting === 1 ? "One answer is" : `${waiting} answers are`} not sent yet. ${here}` : "", signIn);
  if (waiting && !isSignedOut && open && !ahead && !outbox.isBusy()) fetchAhead(); // no answer brings one
  notice("unsafe", "error", isSafe ? "" : "This browser keeps nothing on disk: leave this page open until everything is saved.");
}

function showProgress(progress) {
  if (!progress) return;
  const put = (selector, value) => (one(selector).textContent = numbers.format(value ?? 0));
  put("[data-mine]", progress.mine);
  put("[data-open]", progress.mine_total_open);
  put("[data-team]", progress.team_done);
  put("[data-team-total]", progress.team_total);
  Object.assign(one("[data-own-bar]"), { max: Math.max(1, progress.mine + progress.mine_total_open), value: progress.mine });
  Object.assign(one("[data-team-bar]"), { max: Math.max(1, progress.team_total), value: progress.team_done });
}

// ---- items in and out ----

/** Building the item after this one must not delay the one that was just asked for. */
const afterPaint = (work) => (document.hidden ? setTimeout(work, 0) : requestAnimationFrame(() => setTimeout(work, 0)));

const saveDraft = (one) => (one.stage !== "sent" || one.isChanged) && drafts.set(one.payload.assignment, one.draft());

function build(html, payload) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const node = document.importNode(template.content.querySelector("[data-item]"), true);
  return makeItem(node, payload ?? JSON.parse(node.querySelector('script[type="application/json"]').textContent));
}

function makeItem(node, payload) {
  const made = createItem(node, payload, () => {
    saveDraft(made);
    refresh();
  });
  if (made.revision > 0) made.stage = "sent";
  const draft = drafts.get(payload.assignment);
  if (draft) {
    made.restore(draft);
    if (made.revision > 0) made.stage = "review";
  }
  return made;
}

/** The status line and the submit button follow the item on the screen. */
function refresh() {
  if (!item) return;
  const missing = item.missing();
  const button = one(".submit", item.node);
  button.classList.toggle("is-ready", !missing);
  const isSeen = item.revision > 0 || item.stage === "review";
  one("[data-submit-text]", item.node).textContent = !isSeen ? "Submit" : item.isChanged ? "Send change" : item === open ? "Keep" : "Go on";
  if (item.stage === "waiting") tell("Saving your answer");
  else if (item.stage === "review" && !item.isChanged && item.suggestions.length) tell("Saved. Keep your answer, or change it in view of the suggestion.");
  else if (isSeen) tell(item.isChanged ? "Changed, not sent yet" : "You answered this one");
  else tell(missing ? missing.message : "Complete");
  for (const way of item.node.querySelectorAll('[data-do="skip"], [data-do="flag"]')) way.hidden = item !== open || item.stage !== "open";
  one('[data-do="back"]').disabled = position() <= 0;
  one('[data-do="forward"]').disabled = item === open || (!open && position() >= trail.length - 1 && !ahead);
}

const position = () => {
  const index = item ? trail.indexOf(item.payload.assignment) : -1;
  return index < 0 || item === open ? trail.length : index;
};

function show(next) {
  leaveCaret();
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
  next.setCurrent(next.missing()?.group ?? next.groups[0]);
  refresh();
  window.scrollTo(0, 0);
  next.current().box.focus({ preventScroll: true });
  performance.mark("assay:shown");
  if (next.stage === "open" && !next.isReported) {
    next.isReported = true;
    setTimeout(() => reportShown(next), 0); // after the paint
  }
  announce(`${isFirst ? "New item" : "Item"}. ${next.node.getAttribute("aria-label")}`);
}

function reportShown(shown) {
  const body = { at: shown.shownAt, suggestions: shown.suggestions.length > 0 };
  if (shown.stage === "review") body.at = now();
  fetch(urlOf(shownUrl, shown.payload.assignment), {
    method: "POST", keepalive: true, body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "X-CSRFToken": token() },
  }).catch(() => {}); // the submit carries the time as well
}

function showEmpty(html, retrySeconds) {
  leaveCaret();
  item?.timer.stop();
  item = open = null;
  const template = document.createElement("template");
  template.innerHTML = html;
  stage.replaceChildren(template.content.cloneNode(true));
  stage.focus({ preventScroll: true });
  one('[data-do="back"]').disabled = !trail.length;
  one('[data-do="forward"]').disabled = true;
  announce(one("h2", stage)?.textContent ?? "");
  clearTimeout(pollTimer);
  if (retrySeconds > 0) pollTimer = setTimeout(lookAgain, retrySeconds * 1000);
}

function showLoading() {
  item?.timer.stop();
  item = open = null;
  stage.replaceChildren(Object.assign(document.createElement("p"), { className: "loading", textContent: "Fetching the next item" }));
}

async function getJson(url) {
  const response = await fetch(url, { headers: { Accept: "application/json" }, redirect: "manual" });
  if (!response.ok) throw new Error(String(response.status || 401));
  return response.json();
}

/** Take over what the server offers as the next item. One that we hold already is ignored, one too many is given back. */
function receive(offer) {
  if (!offer) return;
  if (offer.state === "empty") {
    if (!ahead?.item) ahead = { empty: offer.html, retry: offer.retry_seconds };
  } else {
    const { assignment } = offer.payload;
    const isKnown = assignment === open?.payload.assignment || outbox.has(assignment);
    if (isKnown || ahead?.item?.payload.assignment === assignment) return;
    if (ahead?.item) return release(assignment);
    ahead = { item: build(offer.html, offer.payload) };
    clearTimeout(leaseTimer);
    if (offer.payload.lease_seconds) leaseTimer = setTimeout(renewAhead, offer.payload.lease_seconds * 800);
  }
  if (!item && !open) advance();
  else refresh();
}

function fetchAhead() {
  if (ahead?.item || fetching) return fetching;
  const after = open?.payload.assignment;
  fetching = getJson(`${nextUrl}${nextUrl.includes("?") ? "&" : "?"}ahead=1${after ? `&after=${after}` : ""}`)
    .then((offer) => {
      fetching = null;
      receive(offer);
    })
    .catch((error) => {
      fetching = null;
      if (item || open || ahead) return;
      showEmpty("", 0);
      stage.append(document.importNode(one("template[data-offline]").content, true));
      pollTimer = setTimeout(lookAgain, error.message === "401" ? 30000 : 5000);
    });
  return fetching;
}

function renewAhead() {
  if (!ahead?.item) return;
  ahead = null; // its lease is nearly over; the server extends it or gives another one
  fetchAhead();
}

function lookAgain() {
  if (ahead && !ahead.item) ahead = null;
  if (!item && !open) fetchAhead();
}

function release(assignment) {
  const form = new FormData();
  form.append("csrfmiddlewaretoken", token());
  navigator.sendBeacon?.(urlOf(releaseUrl, assignment), form);
}

/** From an answered item to the next one. */
function advance() {
  open = null;
  if (ahead?.item) {
    open = ahead.item;
    ahead = null;
    clearTimeout(leaseTimer);
    show(open);
    fetchSoon();
  } else if (ahead) {
    const { empty, retry } = ahead;
    ahead = null;
    showEmpty(empty, retry);
  } else {
    showLoading();
    fetchAhead();
  }
}

/** The answer to a submit usually brings the next item along; ask only when it did not. */
function fetchSoon() {
  setTimeout(() => ahead || outbox.isBusy() || fetchAhead(), 0);
}

// ---- answering ----

function remember(answered) {
  const { assignment } = answered.payload;
  if (!trail.includes(assignment)) trail = [...trail, assignment].slice(-TRAIL_LENGTH);
  trails.set("", trail);
  kept.delete(assignment);
  kept.set(assignment, answered);
  if (kept.size > KEPT_ITEMS) kept.delete(kept.keys().next().value);
}

function submit() {
  if (!item || item.stage === "waiting") return;
  const answered = item;
  const isOpen = answered === open;
  const isSeen = answered.revision > 0 || answered.stage === "review";
  if (isSeen && !answered.isChanged) return isOpen ? finish(answered) : forward();
  const missing = answered.missing();
  if (missing) {
    tell(missing.message, "missing");
    return focusGroup(missing.group);
  }
  const { minimum_seconds: minimum = 0, assignment, prefill } = answered.payload;
  const left = Math.ceil(minimum - (Date.now() - Date.parse(answered.shownAt)) / 1000);
  if (left > 0 && !isSeen) return tell(`Please take ${left} more second${left === 1 ? "" : "s"} for this item`, "missing");

  const waits = prefill === "after" && isOpen && !isSeen && navigator.onLine;
  const next = waits || !isOpen ? open : ahead?.item;
  const body = {
    client_id: uuid(), shown_at: answered.shownAt, submitted_at: now(), active_ms: answered.timer.total(), comment: answered.comment(),
    text_hash: answered.payload.text_hash, guideline_version: answered.payload.guideline_version,
    judgements: answered.judgements(), want_next: isOpen, after: next?.payload.assignment ?? null,
  };
  answered.isChanged = false;
  answered.revision += 1;
  answered.stage = waits ? "waiting" : "sent";
  if (waits) waitTimer = setTimeout(() => finish(answered), SUGGESTION_WAIT_MS);
  else if (isOpen) finish(answered);
  else forward();
  remember(answered);
  refresh();
  // After the page has changed: writing to the store takes time that the person would see.
  outbox.add("submit", assignment, urlOf(submitUrl, assignment), body);
  drafts.remove(assignment);
}

function finish(answered) {
  clearTimeout(waitTimer);
  answered.stage = "sent";
  drafts.remove(answered.payload.assignment);
  if (answered === open) advance();
}

function answered(entry, reply) {
  showProgress(reply.progress);
  const held = [item, ...kept.values()].find((one) => one?.payload.assignment === entry.assignment);
  if (held && reply.revision) held.revision = Math.max(held.revision, reply.revision);
  if (reply.surplus) notice("surplus", "warning", "One answer came after its time had run out and somebody else had taken the item. It is kept as an extra judgement.", [["Dismiss", () => {}]]);
  if (held && held === open && held.stage === "waiting") {
    if (reply.suggestions?.length) {
      clearTimeout(waitTimer);
      held.stage = "review";
      held.suggest(reply.suggestions);
      reportShown(held);
      focusGroup(held.groups.find((group) => reply.suggestions.some((one) => one.unit === group.unit && one.dimension === group.dimension.slug && held.isAsked(group))) ?? held.current());
      refresh();
      announce(one("[data-status]", held.node).textContent);
    } else finish(held);
  }
  const next = () => {
    receive(reply.ahead);
    if (!ahead && open) fetchSoon();
  };
  if (item) afterPaint(next);
  else next();
}

function refused(entry, message) {
  const what = entry.kind === "skip" ? "A skip" : "An answer";
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
  found.fill(entry.body.judgements, entry.body.comment);
  found.isChanged = true;
  found.stage = "review";
  outbox.discard(entry.id);
  saveDraft(found);
  show(found);
}

function skip(reason, isFlagged) {
  const skipped = item;
  const { assignment } = skipped.payload;
  const next = ahead?.item;
  drafts.remove(assignment);
  skipped.stage = "sent";
  advance();
  outbox.add("skip", assignment, urlOf(skipUrl, assignment), {
    client_id: uuid(), reason, flag: isFlagged, want_next: true, after: next?.payload.assignment ?? null,
  });
}

// ---- back and forth ----

/** An item that was answered before: as it stands on this page, or from the server. */
async function look(assignment) {
  if (open?.payload.assignment === assignment) return open;
  if (kept.has(assignment)) return kept.get(assignment);
  try {
    const { html, payload } = await getJson(urlOf(itemUrl, assignment));
    const found = build(html, payload);
    kept.set(assignment, found);
    return found;
  } catch (error) {
    if (["404", "410"].includes(error.message)) {
      trail = trail.filter((other) => other !== assignment);
      trails.set("", trail);
    }
    tell("That item cannot be opened now", "missing");
    return null;
  }
}

async function back() {
  const index = position() - 1;
  if (index < 0) return tell("This is the first item that this browser remembers");
  const from = item;
  const found = await look(trail[index]);
  if (found && item === from) show(found);
}

async function forward() {
  if (item && item === open) return tell(open.missing()?.message ?? "Press Enter to submit this item first", "missing");
  const index = position() + 1;
  if (index >= trail.length) return open ? show(open) : advance();
  const from = item;
  const found = await look(trail[index]);
  if (found && item === from) show(found);
}

function undo() {
  if (item?.stage === "waiting") return undefined;
  if (item?.undo()) return announce("Undone");
  return back();
}

// ---- groups, spans, dialogs ----

function focusGroup(group) {
  if (!group || !item.setCurrent(group)) return;
  group.box.focus({ preventScroll: true });
  group.box.scrollIntoView({ block: "nearest", behavior: "instant" });
}

function digit(key) {
  const group = item?.current();
  if (!group || item.stage === "waiting") return;
  const label = group.dimension.labels.find((candidate) => String(candidate.key) === key);
  if (!label) return;
  item.choose(group, label.value);
  focusGroup(item.neighbour(1) ?? group);
}

function accept() {
  const group = item?.current();
  if (group && item.accept(group)) focusGroup(item.neighbour(1) ?? group);
}

function addSpan(element, { start, end }) {
  const group = item.spanGroups().find((candidate) => candidate.dimension.spans.field === element.dataset.field);
  if (group && item.addSpan(group, { field: element.dataset.field, start, end })) announce(`Highlighted: ${element.textContent.slice(start, end)}`);
}

/** Turns the mouse's or the finger's selection into a span; true when there was one. */
function takeSelection(byCharacter) {
  if (!item || item.stage === "waiting") return false;
  const fields = [...new Set(item.spanGroups().map((group) => item.fields.get(group.dimension.spans.field)))];
  const found = fields.length ? selected(fields, byCharacter) : null;
  if (!found) return false;
  document.getSelection().removeAllRanges();
  addSpan(found.element, found);
  return true;
}

function highlight() {
  if (!item || takeSelection(false)) return;
  const group = item.spanGroups()[0];
  if (!group) return tell("Nothing is highlighted in this task");
  const element = item.fields.get(group.dimension.spans.field);
  const { field } = element.dataset;
  caret = createCaret(element, {
    add: (span) => addSpan(element, span),
    removeAt(span) {
      for (const candidate of item.spanGroups()) {
        const index = item.spansOf(candidate).findLastIndex((other) => other.field === field && other.start < span.end && other.end > span.start);
        if (index >= 0) return item.removeSpan(candidate, index), announce("Highlight removed");
      }
    },
    leave: () => focusGroup(item.current()) ?? leaveCaret(),
    moved(span) {
      item.setCaret({ field, ...span });
      element.querySelector("mark.caret")?.scrollIntoView({ block: "nearest" });
      announce(element.textContent.slice(span.start, span.end));
    },
  });
  if (!caret) return;
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.classList.add("has-caret");
  item.setCaret({ field, ...caret.span });
  element.querySelector("mark.caret")?.scrollIntoView({ block: "nearest" });
  tell("Arrows move, Shift extends, Enter adds, Delete removes, Esc leaves");
}

function leaveCaret() {
  if (!caret) return;
  caret.element.classList.remove("has-caret");
  caret = null;
  item?.setCaret(null);
  refresh();
}

const dialog = (name) => one(`dialog[data-dialog="${name}"]`);

function askSkip(isFlagged) {
  if (!item || item !== open || item.stage !== "open") return tell("Only an item that is not answered yet can be skipped");
  skipMode = isFlagged;
  one("[data-skip-title]").textContent = isFlagged ? "Flag this item for the researcher" : "Skip this item";
  one("[data-skip-confirm]").textContent = isFlagged ? "Flag and go on" : "Skip";
  one("[data-skip-note]").textContent = isFlagged ? "The researcher sees your words; the item goes to somebody else." : "You will not see this item again.";
  one("[data-skip-form]").reset();
  dialog("skip").showModal();
  return one("[data-skip-reason]").focus();
}

const actions = {
  digit, submit, back, forward, undo, accept, highlight,
  up: () => item && focusGroup(item.neighbour(-1)),
  down: () => item && focusGroup(item.neighbour(1)),
  help: () => dialog("help").showModal(),
  guidelines: () => dialog("guidelines")?.showModal(),
  skip: () => askSkip(false),
  flag: () => askSkip(true),
  retry: lookAgain,
  comment() {
    if (!item) return;
    one("[data-comment-box]", item.node).open = true;
    one("[data-comment]", item.node).focus();
  },
};

const outbox = createOutbox(space, token, { answered, refused, state: showState });

listen(actions, {
  isOn: () => settings.get("single-keys") !== false,
  first: (event) => caret !== null && caret.element.contains(event.target) && caret.key(event),
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do], [data-close], [data-dismiss]");
  if (!button) return;
  if ("close" in button.dataset) button.closest("dialog").close();
  else if ("dismiss" in button.dataset) button.closest(".message").remove();
  else if (button.type !== "submit") {
    const box = button.closest("[data-group]");
    if (box) item?.setCurrent(item.groupOf(box));
    actions[button.dataset.do]();
  }
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-panel]")) {
    event.preventDefault();
    submit();
  } else if (event.target.matches("[data-skip-form]")) {
    const chosen = new FormData(event.target).get("reason");
    skip([chosen, one("[data-skip-reason]").value.trim()].filter(Boolean).join(": "), skipMode);
  }
});

let isPointing = false; // walking through radios with the arrows makes clicks too
document.addEventListener("pointerdown", () => (isPointing = true), true);
document.addEventListener("keydown", () => (isPointing = false), true);

// A click on a label answers and hands the keyboard to the next group; walking with Tab stays inside the group.
stage.addEventListener("click", (event) => {
  const box = event.target.closest("[data-group]");
  if (!box || !event.target.matches('input[type="radio"]') || !isPointing) return;
  const group = item.groupOf(box);
  if (item.setCurrent(group)) setTimeout(() => focusGroup(item.neighbour(1) ?? group), 0); // after the change event
});
stage.addEventListener("focusin", (event) => {
  const box = event.target.closest("[data-group]");
  if (box && item) item.setCurrent(item.groupOf(box));
  if (caret && !caret.element.contains(event.target)) leaveCaret();
});
stage.addEventListener("pointerup", (event) => {
  if (event.pointerType === "mouse" && event.button === 0) setTimeout(() => takeSelection(event.shiftKey || event.altKey), 0);
});
// Pressing the button must not lose the selection that it is meant for.
stage.addEventListener("pointerdown", (event) => event.target.closest('[data-do="highlight"]') && event.preventDefault());
stage.addEventListener("mousedown", (event) => event.target.closest('[data-do="highlight"]') && event.preventDefault());

one("[data-single-keys]").checked = settings.get("single-keys") !== false;
one("[data-single-keys]").addEventListener("change", (event) => settings.set("single-keys", event.target.checked));

window.addEventListener("pagehide", () => {
  if (item) saveDraft(item);
  if (ahead?.item) release(ahead.item.payload.assignment);
  ahead = null;
});
window.addEventListener("pageshow", (event) => event.persisted && fetchAhead());
window.addEventListener("storage", (event) => {
  // The same item, answered in another tab.
  if (open?.stage === "open" && event.key?.startsWith(`assay:outbox:${space}:`) && event.newValue && outbox.has(open.payload.assignment)) {
    notice("other-tab", "warning", "The item that was here has been answered in another tab.", [["Dismiss", () => {}]]);
    open.stage = "sent";
    advance();
  }
});

// ---- the first item ----

const first = one("[data-item]", stage);
if (first) {
  const made = makeItem(first, JSON.parse(one('script[type="application/json"]', first).textContent));
  open = made;
  if (outbox.has(made.payload.assignment)) {
    made.stage = "sent"; // answered before the reload, still on its way
    advance();
  } else {
    show(made);
    fetchAhead();
  }
} else {
  one('[data-do="back"]').disabled = !trail.length;
  const seconds = Number(work.dataset.retrySeconds);
  if (seconds > 0) pollTimer = setTimeout(lookAgain, seconds * 1000);
}
outbox.start();
