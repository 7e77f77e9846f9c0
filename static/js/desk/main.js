// The adjudicators' page: one item with people's answers under letters, and the decision on it. What is decided is stored
// before the next item is shown: it rests on others' answers, and there may be more by now. What is not decided yet is
// kept in the browser, by item. The next one is fetched ahead: it is read while the decision is on its way.

import { createChooser } from "../work/choosing.js";
import { ask as askWhich, openDialog } from "../work/dialogs.js";
import { createHighlighter } from "../work/highlights/highlighter.js";
import { createTypeAhead, keyOf, listenToButtons, listenToKeys } from "../work/keyboard.js";
import { createMaker } from "../work/making.js";
import { createServer } from "../work/sending/requests.js";
import { createDrafts, createStore } from "../work/sending/store.js";
import { announce, one } from "../work/shell.js";
import { createViews } from "../work/texts/views.js";
import { createAhead } from "./ahead.js";
import { createDeciding } from "./deciding.js";
import { createRequests } from "./requests.js";
import { createScreen } from "./screen.js";

const work = document.getElementById("work");
const stage = document.getElementById("stage");

/** What the page's parts share, and the parts by name: each finds the others here when it calls them. */
const page = {
  work, stage,
  item: null, // on the screen
  passed: [], // left for later in this visit
  trail: [], // {item, done}: decided in this visit, the last one at the end
  drafts: createDrafts(`desk/${work.dataset.project}:${work.dataset.user}`), // no short name has a slash
  typeAhead: createTypeAhead(() => page.requests.isBusy()),
};
const { passed, trail, typeAhead } = page;
// Keys typed ahead were meant for what would have come.
const requests = (page.requests = createRequests(work, createServer(work.dataset), typeAhead.drop));
const screen = (page.screen = createScreen(page));
const { showStatus, refresh } = screen;
page.ahead = createAhead(page);
const deciding = createDeciding(page);
page.maker = createMaker(page.drafts, { changed: refresh, waiting: () => undefined, painted: () => {} });
const itemNow = () => page.item;
const highlighter = (page.highlighter = createHighlighter(stage, itemNow, { announce, showStatus, focus: () => chooser.comeBack(), left: refresh }));
const chooser = (page.chooser = createChooser(stage, itemNow, { announce, showStatus, refresh }, highlighter));

// ---- from item to item ----

const next = () => requests.ask(`next/?${work.dataset.query}`, { passed }, screen.receive, next);
const look = (uuid) => requests.ask(`items/${uuid}/`, {}, screen.receive, () => look(uuid));

function later() {
  if (!page.item || requests.isBusy()) return;
  const coming = page.ahead.take();
  passed.push(page.item.payload.item);
  if (coming) screen.receive(coming);
  else next();
}

function back() {
  const last = trail[screen.position() - 1];
  if (last) look(last.item);
  else showStatus("There is no earlier decision in this visit");
}

function forward() {
  const index = screen.position();
  if (index >= trail.length) return showStatus(page.item?.missing()?.message ?? `Press Enter to decide this item, or ${keyOf("skip")} to leave it for later`, "missing");
  return index + 1 < trail.length ? look(trail[index + 1].item) : next();
}

// ---- buttons and keys ----

/** Into a control of the box of reason and note. */
function write(selector) {
  if (!page.item) return;
  one("[data-comment-box]", page.item.node).open = true;
  one(selector, page.item.node).focus();
}

function redo() {
  const group = page.item?.redo();
  if (group) chooser.focus(group);
  else showStatus("Nothing to redo");
}

const actions = {
  submit: () => deciding.decide(), undo: deciding.undo, redo, back, forward, skip: later,
  up: chooser.up, down: chooser.down, pick: chooser.pick, whole: chooser.whole, highlight: highlighter.start,
  without: () => page.item && askWhich("without", deciding.decide),
  reveal: () => page.item && askWhich("reveal", deciding.reveal),
  none: () => deciding.decide("no-answer"),
  drop: () => deciding.decide("dropped"),
  names: () => deciding.reveal("names"),
  checkers: () => deciding.reveal("checkers"),
  take: (button) => deciding.useAnswer(button.dataset.letter),
  comment: () => write("[data-comment]"),
  reason: () => write("[data-kept=reason]"),
  example() {
    const box = page.item && one("[data-kept=for_guidelines]", page.item.node);
    if (!box) return;
    box.click();
    announce(box.checked ? "Added to the guideline examples" : "Removed from the guideline examples");
  },
  source: createViews(stage, itemNow, createStore(`assay:settings:${work.dataset.user}:`), announce),
  words() {}, // the current question has no field
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
    if (!page.item || event.repeat) return Boolean(event.repeat && page.item);
    if (event.shiftKey && /^[a-z]$/.test(name)) return deciding.useAnswer(name.toUpperCase()), true;
    return chooser.key(event, name);
  },
});
one("[data-queue]").addEventListener("change", (event) => event.target.matches("select") && event.currentTarget.requestSubmit());
one("#beyond").addEventListener("input", () => { one("[data-queue] [type=submit]").hidden = false; }); // a number is typed digit by digit

if (work.dataset.opens) look(work.dataset.opens);
else next();
