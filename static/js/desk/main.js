// The adjudicators' page: one item with what people said about it under letters, and the decision on it. What is decided
// is stored before the next item is shown: it rests on what others said, and somebody may have said more.

import { createItem } from "../work/answers.js";
import { createChooser } from "../work/choosing.js";
import { announce, listenToButtons, listenToKeys, notice, one, openDialog } from "../work/shell.js";
import { createHighlighter } from "../work/spans.js";

const work = document.getElementById("work");
const stage = document.getElementById("stage");
const passed = []; // left for later in this visit
const trail = []; // {item, done}: decided in this visit, the last one at the end
let item = null;
let isBusy = false; // a request is under way: keys that came too early do nothing

function tell(text, kind = "") {
  const line = item && one("[data-status]", item.node);
  if (!line) return;
  if (line.textContent !== text) line.textContent = text;
  line.dataset.kind = kind;
}

const make = (tag, more = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), more);
  element.append(...children);
  return element;
};

// ---- the server ----

async function post(way, body) {
  const reply = await fetch(`${work.dataset.address}${way}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": work.dataset.csrf },
    body: JSON.stringify(body),
    redirect: "error",
  });
  const isJson = reply.headers.get("Content-Type")?.startsWith("application/json");
  return { status: reply.status, ...(isJson ? await reply.json() : { message: "The server did not take this. Load the page again." }) };
}

/** One request at a time; what went wrong with it is said, and the item stays as it is. */
async function ask(way, body, then) {
  if (isBusy) return;
  isBusy = true;
  saving("saving", "Saving");
  try {
    const reply = await post(way, body);
    isBusy = false;
    saving("saved", "Saved");
    then(reply);
  } catch (error) {
    isBusy = false;
    saving("waiting", "Not saved");
    console.error(error);
    notice("offline", "error", "The server cannot be reached, or you are signed out. Nothing was lost from this page: try again.", [["Dismiss", () => {}]]);
    return;
  }
  notice("offline");
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
  const template = document.createElement("template");
  template.innerHTML = reply.html;
  const node = document.importNode(template.content, true).firstElementChild;
  if (reply.state === "empty") {
    item = null;
    stage.replaceChildren(node);
    stage.focus({ preventScroll: true });
    return announce(one("h2", stage).textContent);
  }
  item = build(node, reply.payload);
  stage.replaceChildren(node);
  item.setCurrent(item.missing()?.group ?? item.groups.find(item.isAsked));
  item.render();
  refresh();
  window.scrollTo(0, 0);
  item.current()?.box.focus({ preventScroll: true });
  if (reply.notice) notice("held", "warning", reply.notice, [["Dismiss", () => {}]]);
  announce("New item");
  return undefined;
}

function build(node, payload) {
  const made = createItem(node, payload, refresh, () => {});
  made.names = {};
  made.overlay = payload.said.flatMap(({ letter, judgements }, index) => judgements.flatMap((judgement) => layersOf(made, judgement, letter, index)));
  showSaid(made);
  for (const control of node.querySelectorAll("[data-reason], [data-for-guidelines]")) control.addEventListener("change", refresh);
  return made;
}

/** Highlights of an answer, painted as those of the letter; `index` counts the letters. */
const layersOf = (made, { unit, spans }, letter, index) => spans
  .filter((span) => made.texts.has(span.field))
  .map((span) => ({ ...made.utf16(span), unit, kind: "said", number: index + 1, letter }));

function colour(entry, index) {
  entry.style.setProperty("--own-line", `var(--aspect-${(index % 20) + 1}-line)`);
  entry.dataset.pattern = index % 4;
}

const nameOf = (made, letter) => (made.names[letter] ? `${letter} (${made.names[letter]})` : letter);

/** Beside each question who said what, and below them all comments, with a button that takes each answer over. */
function showSaid(made) {
  const { payload, node } = made;
  for (const old of node.querySelectorAll("ul.said")) old.remove();
  for (const group of made.groups) {
    const line = make("ul", { className: "said" });
    payload.said.forEach(({ letter, judgements, is_late: isLate }, index) => {
      const judgement = judgements.find(({ unit, dimension }) => unit === group.unit && dimension === group.dimension.slug);
      if (!judgement) return;
      const entry = make("li", {}, make("b", { textContent: nameOf(made, letter) }), " ", made.titleOf(group, judgement.label));
      colour(entry, index);
      if (judgement.spans.length) entry.append(" ", make("span", { className: "muted", textContent: `${judgement.spans.length} highlight${judgement.spans.length > 1 ? "s" : ""}` }));
      if (isLate) entry.append(" ", make("span", { className: "badge", textContent: "late" }));
      line.append(entry);
    });
    if (payload.differing.some(({ unit, dimension }) => unit === group.unit && dimension === group.dimension.slug)) line.classList.add("differs");
    if (line.childElementCount) group.box.after(line);
  }
  const all = one("[data-said-all]", node);
  all.replaceChildren(make("p", { className: "take" }, ...payload.said.map(({ letter }) => {
    const button = make("button", { type: "button", className: "small" }, `Take over ${nameOf(made, letter)} `, ...(letter.length === 1 ? [make("kbd", { textContent: `⇧${letter}` })] : []));
    button.dataset.do = "take";
    button.dataset.letter = letter;
    return button;
  })));
  for (const { letter, comment, words } of payload.said) {
    for (const text of [words, comment]) if (text) all.append(make("p", {}, make("b", { textContent: nameOf(made, letter) }), ": ", make("span", { textContent: text, dir: "auto" })));
  }
  if (payload.outcome) all.append(make("p", {}, "Decided: ", make("b", { textContent: payload.outcome })));
  if (payload.improbable !== null) all.append(make("p", {}, make("b", { textContent: "Improbable" }), `: a model of the annotators gives the least certain label a posterior of ${payload.improbable}`));
  for (const { reason, is_flag: isFlag } of payload.skips) all.append(make("p", {}, make("b", { textContent: isFlag ? "Flagged" : "Skipped" }), reason ? ": " : "", make("span", { textContent: reason, dir: "auto" })));
}

/** What checkers said, under small letters that follow people's, with what they quote marked in the texts. */
function showCheckers(made, suggestions) {
  const { payload, node } = made;
  const letters = [...new Set(suggestions.map(({ letter }) => letter))].sort();
  const indexOf = (letter) => payload.said.length + letters.indexOf(letter);
  const box = one("[data-checkers]", node);
  box.replaceChildren(...suggestions.map(({ unit, dimension, title, score, letter, checker, explanation, spans }) => {
    const group = made.groups.find((one) => one.unit === unit && one.dimension.slug === dimension);
    const number = payload.units.length > 1 ? `number ${group?.number}, ` : "";
    const words = (...content) => make("span", { className: "small muted reasons", dir: "auto" }, ...content);
    const entry = make("p", {}, make("b", { textContent: letter }), " ", make("span", { className: "badge machine", textContent: checker }), ` ${number}${group?.dimension.title ?? dimension}: `, make("b", { textContent: title }), score === null ? "" : ` ${score.toFixed(2)}`, ...(explanation ? [words(explanation)] : []), ...spans.map(({ quote }) => words(make("q", { textContent: quote }))));
    colour(entry, indexOf(letter));
    return entry;
  }));
  if (!suggestions.length) box.textContent = "No checker said anything about this item.";
  made.overlay = [...made.overlay.filter(({ letter }) => !letters.includes(letter)), ...suggestions.flatMap((one) => layersOf(made, one, one.letter, indexOf(one.letter)))];
  made.render();
}

function refresh() {
  if (!item) return;
  const missing = item.missing();
  one(".submit", item.node).classList.toggle("is-ready", !missing);
  const open = item.payload.differing.length || item.payload.improbable !== null;
  tell(missing ? missing.message : open ? "Complete" : "Nothing differs here: Enter says that you have seen it");
}

const next = () => ask(`next/?${work.dataset.query}`, { passed }, receive);
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
  const draft = decided.draft();
  const body = {
    basis: decided.payload.basis, judgements: outcome ? [] : decided.judgements(), outcome, units: isPart ? [item.current().unit] : undefined, note: decided.comment(),
    reason: one("[data-reason]", decided.node).value, for_guidelines: one("[data-for-guidelines]", decided.node).checked,
  };
  ask(`${address(decided)}decide/`, body, (reply) => {
    if (reply.status === 409) {
      receive(reply);
      item.restore({ ...draft, text_hash: draft.text_hash });
      one("[data-reason]", item.node).value = body.reason;
      one("[data-for-guidelines]", item.node).checked = body.for_guidelines;
      return notice("outdated", "warning", reply.message, [["Dismiss", () => {}]]);
    }
    if (reply.status >= 400) return tell(reply.message, "missing");
    notice("outdated");
    trail.push({ item: decided.payload.item, done: reply.done });
    if (!isPart) return next();
    return ask(address(decided), {}, (again) => {
      receive(again);
      item?.restore({ ...draft, text_hash: draft.text_hash });
    });
  });
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
  });
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
      return announce("Names are shown");
    }
    showCheckers(about, reply.suggestions);
    return undefined;
  });
}

function later() {
  if (!item) return;
  passed.push(item.payload.item);
  next();
}

function back() {
  const here = item ? trail.findIndex((one) => one.item === item.payload.item) : -1;
  const last = trail[(here < 0 ? trail.length : here) - 1];
  if (last) ask(`items/${last.item}/`, {}, receive);
  else tell("Nothing was decided before this one in this visit");
}

// ---- buttons and keys ----

const highlighter = createHighlighter(stage, () => item, { announce, tell, focus: () => chooser.comeBack(), left: refresh });
const chooser = createChooser(stage, () => item, { announce, tell, refresh }, highlighter);
const nothing = () => {};
const actions = {
  submit: () => decide(), undo, back, forward: next, skip: later,
  up: chooser.up, down: chooser.down, pick: chooser.pick, whole: chooser.whole, highlight: highlighter.start,
  accept: nothing, flag: nothing, only: nothing, words: nothing,
  none: () => decide("no-answer"),
  drop: () => decide("dropped"),
  take: (button) => take(button.dataset.letter),
  names: () => reveal("names"),
  checkers: () => reveal("checkers"),
  help: () => openDialog("help"),
  guidelines: () => one('[data-do="guidelines"]').hidden || openDialog("guidelines"),
  retry() {
    passed.length = 0;
    next();
  },
  comment() {
    if (!item) return;
    one("[data-comment-box]", item.node).open = true;
    one("[data-comment]", item.node).focus();
  },
};
const own = {
  r() {
    one("[data-comment-box]", item.node).open = true;
    one("[data-reason]", item.node).focus();
  },
  u() {
    const box = one("[data-for-guidelines]", item.node);
    box.checked = !box.checked;
    announce(box.checked ? "The guidelines need this" : "The guidelines do not need this");
  },
  o: actions.none,
  x: actions.drop,
  n: actions.names,
  v: actions.checkers,
};

listenToButtons(actions);
listenToKeys(actions, {
  isOn: () => true,
  first: (event) => chooser.naming(event) || highlighter.key(event),
  own(event, name) {
    if (!item || event.repeat) return Boolean(event.repeat && item);
    if (event.shiftKey && /^[a-z]$/.test(name)) return take(name.toUpperCase()), true;
    if (chooser.key(event, name)) return true;
    if (!own[name]) return false;
    own[name]();
    return true;
  },
});
one("[data-queue]").addEventListener("change", (event) => event.target.matches("select") && event.currentTarget.requestSubmit());
one("#beyond").addEventListener("input", () => { one("[data-queue] [type=submit]").hidden = false; }); // a number is typed digit by digit

if (work.dataset.opens) ask(`items/${work.dataset.opens}/`, {}, receive);
else next();
