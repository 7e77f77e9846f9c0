// The adjudicators' page: one item with what people said about it under letters, and the decision on it. What is decided
// is stored before the next item is shown: it rests on what others said, and there may be more by now. What is not
// decided yet is kept in the browser, by item.

import { createChooser } from "../work/choosing.js";
import { ask as askWhich, openDialog } from "../work/dialogs.js";
import { createMaker } from "../work/making.js";
import { createServer } from "../work/sending/server.js";
import { createDrafts } from "../work/sending/store.js";
import { announce, introduce, listenToButtons, listenToKeys, notice, one, tellSignedOut } from "../work/shell.js";
import { createHighlighter } from "../work/highlights/highlighter.js";
import { createTypeAhead } from "../work/typeahead.js";
import { overlayOf, showCheckers, showSaid } from "./said.js";

const work = document.getElementById("work");
const stage = document.getElementById("stage");
const drafts = createDrafts(`desk/${work.dataset.project}:${work.dataset.user}`); // no short name has a slash
const server = createServer(work.dataset);
const passed = []; // left for later in this visit
const trail = []; // {item, done}: decided in this visit, the last one at the end
let item = null;
let isBusy = false; // a request is under way: keys wait for its reply
const typeAhead = createTypeAhead(() => isBusy);
const KEPT = "Nothing is lost: what you chose and wrote is kept in this browser.";

function tell(text, kind = "") {
  const line = item && one("[data-status]", item.node);
  if (!line) return;
  if (line.textContent !== text) line.textContent = text;
  line.dataset.kind = kind;
}

// ---- the server ----

async function post(way, body) {
  const reply = await fetch(`${work.dataset.address}${way}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...server.headers() },
    body: JSON.stringify(body),
    redirect: "manual",
  });
  const isJson = reply.headers.get("Content-Type")?.startsWith("application/json");
  const isSignedOut = reply.type === "opaqueredirect" || reply.status === 401;
  return { ...(isJson ? await reply.json() : { message: "The server did not accept this. Reload the page." }), status: isSignedOut ? 401 : reply.status };
}

/** One request at a time; what went wrong with it is said, with a button to do it `again`, and the item stays as it is. */
async function ask(way, body, then, again) {
  if (isBusy) return;
  isBusy = true;
  saving("saving", "Saving");
  const reply = await post(way, body).catch(() => null);
  isBusy = false;
  const isStored = reply !== null && reply.status < 400;
  saving(...(isStored ? ["saved", "Saved"] : ["waiting", "Not saved"]));
  if (!isStored) typeAhead.drop(); // they were meant for what would have come
  notice("offline", "error", reply ? "" : `The server cannot be reached. ${KEPT}`, [["Try again", again]]);
  if (reply?.status === 401) return tellSignedOut(reply.signed_in, KEPT, work.dataset, again);
  notice("signed-out");
  if (reply) then(reply);
}

function saving(state, text) {
  one("[data-save-state]").dataset.saveState = state;
  one("[data-save-text]").textContent = text;
}

const numbers = new Intl.NumberFormat("en");
function showWaiting(count) {
  if (count === undefined) return;
  const most = Number(one("[data-waiting]").dataset.most);
  one("[data-waiting]").textContent = count > most ? `more than ${numbers.format(most)}` : numbers.format(count);
}

// ---- items ----

function receive(reply) {
  if (reply.status >= 400 && !reply.html) return tell(reply.message, "missing") ?? notice("problem", "error", reply.message, [["Dismiss", () => {}]]);
  showWaiting(reply.waiting);
  highlighter.leave();
  notice("problem");
  notice("changed");
  const before = item?.payload.item;
  if (reply.state === "empty") {
    typeAhead.drop();
    const template = document.createElement("template");
    template.innerHTML = reply.html;
    item = null;
    stage.replaceChildren(template.content.cloneNode(true));
    stage.focus({ preventScroll: true });
    return announce(one("h2", stage).textContent);
  }
  const draft = drafts.get(reply.payload.assignment);
  item = maker.build(reply.html, reply.payload);
  item.names = {};
  item.overlay = overlayOf(item);
  showSaid(item);
  stage.replaceChildren(item.node);
  item.setCurrent(item.missing()?.group ?? item.groups.find(item.isAsked));
  item.render();
  refresh();
  window.scrollTo(0, 0);
  item.current()?.box.focus({ preventScroll: true });
  if (reply.notice) notice("held", "warning", reply.notice, [["Dismiss", () => {}]]);
  if (draft?.basis && draft.basis !== reply.payload.basis && !reply.message) {
    notice("changed", "warning", "Another person answered or decided this item after you chose what is shown here. Look at it again before you decide.", [["Dismiss", () => {}]]);
  }
  announce(introduce(item, position() + 1));
  typeAhead.press(item.payload.item !== before);
  return undefined;
}

const maker = createMaker(drafts, { changed: refresh, waiting: () => undefined, painted: () => {} });

function refresh() {
  if (!item) return;
  const missing = item.missing();
  one(".submit", item.node).classList.toggle("is-ready", !missing);
  const open = item.payload.differing.length || item.payload.improbable !== null;
  tell(missing ? missing.message : open ? "Complete" : "Nothing differs here: Enter says that you have seen it");
  one('[data-do="back"]').disabled = position() <= 0;
}

/** The place of the item on the screen among those decided in this visit; after them where it is not one of these. */
function position() {
  const index = item ? trail.findIndex((one) => one.item === item.payload.item) : -1;
  return index < 0 ? trail.length : index;
}

const next = () => ask(`next/?${work.dataset.query}`, { passed }, receive, next);
const look = (uuid) => ask(`items/${uuid}/`, {}, receive, () => look(uuid));
const address = (one) => `items/${one.payload.item}/`;

// ---- deciding ----

/** With an outcome: that no label is right, or that the item, or its current unit, is dropped. */
function decide(outcome = "") {
  if (!item || isBusy) return;
  const isPart = outcome && item.payload.units.length > 1;
  const missing = outcome ? null : item.missing();
  if (missing) {
    tell(missing.message, "missing");
    if (missing.group) chooser.focus(missing.group);
    return;
  }
  const decided = item;
  const { assignment, basis, options_version } = decided.payload;
  const { more } = decided.draft();
  const body = {
    basis, options_version, judgements: outcome ? [] : decided.judgements(), outcome, units: isPart ? [item.current().unit] : undefined, note: decided.comment(),
    reason: more.reason, for_guidelines: more.for_guidelines, then: isPart ? "same" : "next", passed,
  };
  ask(`${address(decided)}decide/?${work.dataset.query}`, body, (reply) => {
    if (reply.status === 409) {
      receive(reply);
      return notice("outdated", "warning", reply.message, [["Dismiss", () => {}]]);
    }
    if (reply.status >= 400) return tell(reply.message, "missing");
    notice("outdated");
    if (isPart) drafts.set(assignment, { ...decided.draft(), basis: reply.after.payload.basis });
    else drafts.remove(assignment);
    trail.push({ item: decided.payload.item, done: reply.done });
    return receive(reply.after);
  }, () => item === decided && decide(outcome));
}

function undo() {
  if (isBusy) return;
  const group = item?.undo();
  if (group) return chooser.focus(group);
  const last = trail.at(-1);
  if (!last) return tell("Nothing to undo");
  return ask(`items/${last.item}/undo/?${work.dataset.query}`, { done: last.done }, (reply) => {
    if (reply.status < 400) trail.pop();
    if (reply.status === 409) return notice("outdated", "warning", reply.message, [["Dismiss", () => {}]]);
    receive(reply);
    return announce("The last decision is taken back");
  }, undo);
}

function take(letter) {
  const from = item?.payload.said.find((one) => one.letter === letter);
  if (!from) return item && tell(`Nobody here is ${letter}`, "missing");
  const { unit } = item.current();
  const isMany = item.payload.units.length > 1;
  item.adopt(isMany ? from.judgements.filter((one) => one.unit === unit) : from.judgements);
  announce(`The answer of ${letter} is taken over`);
  const open = item.unanswered();
  return isMany && open ? chooser.focus(open) : undefined;
}

function reveal(what) {
  const about = item;
  if (!about) return;
  ask(`${address(about)}reveal/`, { what }, (reply) => {
    if (reply.status >= 400) return tell(reply.message, "missing");
    if (reply.names) {
      about.names = reply.names;
      showSaid(about);
      announce("Names are shown");
    } else showCheckers(about, reply.suggestions);
    return typeAhead.press(false);
  }, () => item === about && reveal(what));
}

function later() {
  if (!item || isBusy) return;
  passed.push(item.payload.item);
  next();
}

function back() {
  const last = trail[position() - 1];
  if (last) look(last.item);
  else tell("Nothing was decided before this one in this visit");
}

function forward() {
  const index = position();
  if (index >= trail.length) return tell(item?.missing()?.message ?? "Press Enter to decide this item, or s to leave it for later", "missing");
  return index + 1 < trail.length ? look(trail[index + 1].item) : next();
}

// ---- buttons and keys ----

const highlighter = createHighlighter(stage, () => item, { announce, tell, focus: () => chooser.comeBack(), left: refresh });
const chooser = createChooser(stage, () => item, { announce, tell, refresh }, highlighter);

/** Into a control of the box of reason and note. */
function write(selector) {
  if (!item) return;
  one("[data-comment-box]", item.node).open = true;
  one(selector, item.node).focus();
}

const actions = {
  submit: () => decide(), undo, back, forward, skip: later,
  up: chooser.up, down: chooser.down, pick: chooser.pick, whole: chooser.whole, highlight: highlighter.start,
  without: () => item && askWhich("without", decide),
  reveal: () => item && askWhich("reveal", reveal),
  none: () => decide("no-answer"),
  drop: () => decide("dropped"),
  names: () => reveal("names"),
  checkers: () => reveal("checkers"),
  take: (button) => take(button.dataset.letter),
  comment: () => write("[data-comment]"),
  reason: () => write("[data-kept=reason]"),
  example() {
    const box = item && one("[data-kept=for_guidelines]", item.node);
    if (!box) return;
    box.click();
    announce(box.checked ? "The guidelines need this" : "The guidelines do not need this");
  },
  help: () => openDialog("help"),
  guidelines: () => one('[data-do="guidelines"]').hidden || openDialog("guidelines"),
  retry() {
    passed.length = 0;
    next();
  },
};

listenToButtons(actions);
listenToKeys(actions, {
  keeps: typeAhead.keeps,
  isOn: () => true,
  first: (event) => chooser.naming(event) || highlighter.key(event),
  own(event, name) {
    if (!item || event.repeat) return Boolean(event.repeat && item);
    if (event.shiftKey && /^[a-z]$/.test(name)) return take(name.toUpperCase()), true;
    return chooser.key(event, name);
  },
});
one("[data-queue]").addEventListener("change", (event) => event.target.matches("select") && event.currentTarget.requestSubmit());
one("#beyond").addEventListener("input", () => { one("[data-queue] [type=submit]").hidden = false; }); // a number is typed digit by digit

if (work.dataset.opens) look(work.dataset.opens);
else next();
