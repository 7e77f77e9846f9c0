// The labelling page. The next item is fetched ahead, so an answer swaps the page at once and travels in the background.

import { createAhead } from "./ahead.js";
import { begin } from "./beginning.js";
import { createChanges, isUnsent } from "./changes.js";
import { createChooser } from "./choosing.js";
import { openDialog } from "./dialogs.js";
import { createGuidelines } from "./guidelines.js";
import { createHighlighter } from "./highlights/highlighter.js";
import { createInquirer } from "./item/suggestions.js";
import { createTypeAhead, keyOf, listenToButtons, listenToKeys } from "./keyboard.js";
import { createMaker } from "./making.js";
import { withoutKeeping, withoutStatus } from "./offline/without.js";
import { createPane } from "./pane.js";
import { createReplies } from "./replies.js";
import { createScreen } from "./screen.js";
import { createOutbox } from "./sending/outbox.js";
import { createServer } from "./sending/requests.js";
import { createDrafts, createStore } from "./sending/store.js";
import { announce, copy, notice, one } from "./shell.js";
import { createSubmitting } from "./submitting.js";
import { createShared } from "./texts/shared.js";
import { createViews } from "./texts/views.js";
import { createTour } from "./tour.js";
import { createTrail, createWalk } from "./walking.js";
import { gettext } from "../words.js";

const work = document.getElementById("work");
const stage = document.getElementById("stage");
const space = `${work.dataset.project}:${work.dataset.user}`;
const settings = createStore(`assay:settings:${work.dataset.user}:`);
const server = createServer(work.dataset);
const { createKeeping, createStatus } = globalThis.assayOffline ?? { createKeeping: withoutKeeping, createStatus: withoutStatus };
const keeping = createKeeping(work);
const { progress, recent = work.dataset.recent.split(" ").filter(Boolean) } = (keeping.isKept && keeping.since()) || {};

/** What the page's parts share, and the parts by name: each finds the others here when it calls them. */
const page = {
  work, stage, space, server, keeping,
  item: null, // on the screen; null while there is nothing to label
  open: null, // the item that is not answered yet; differs from `item` while an earlier one is on the screen
  prefill: "", // when suggestions are shown here, as the newest reply to an answer says; empty before the first
  sent: new Set(), // assignments this page answered or skipped; an offer of one of them crossed its answer
  drafts: createDrafts(space),
  guidelines: createGuidelines(work),
  trail: createTrail(server, recent, "hasOlder" in work.dataset, progress?.mine ?? Number(work.dataset.answered), progress ? 0 : Number(work.dataset.newer)),
  // An answer waits for suggestions, or the page for its next item.
  typeAhead: createTypeAhead(() => page.item?.stage === "waiting" || (!page.item && one(".loading", stage) !== null)),
  focusOn: ({ group, element }) => (group ? page.chooser.focus(group) : element.focus()),
  focusWords() {
    const box = page.item && one("[data-free-text]", page.item.node);
    if (box) box.focus();
    else screen.showStatus(gettext("This task has no free-text question; press {key} to comment", { key: keyOf("comment") }));
  },
};
const { drafts, guidelines, trail, typeAhead } = page;
page.status = createStatus(page);
const screen = (page.screen = createScreen(page));
const changes = (page.changes = createChanges(page));
const submitting = (page.submitting = createSubmitting(page));
const replies = createReplies(page);
const maker = (page.maker = createMaker(drafts, {
  changed: screen.refresh,
  waiting: (assignment) => outbox.waiting().findLast((entry) => entry.assignment === assignment)?.body,
  painted({ payload: { assignment }, suggestionsShownAt }) {
    outbox.painted(assignment, server.shownUrl(assignment), suggestionsShownAt);
  },
}));
const walk = (page.walk = createWalk(trail, keeping, server, maker.build, {
  item: () => page.item, open: () => page.open, show: screen.show, advance: screen.advance, leave: changes.leave, showStatus: screen.showStatus, changed: screen.showWays,
}));
const ahead = (page.ahead = createAhead(server, maker.build, {
  open: () => page.open,
  isIdle: () => !page.item && !page.open,
  isAnswered: (assignment) => page.sent.has(assignment) || outbox.has(assignment),
  isSending: () => outbox.isWaiting(),
  aside: () => outbox.aside(),
  ended: replies.ended,
  goesOn: () => notice("ended"),
  advance: screen.advance,
  receiveGuidelines: screen.receiveGuidelines,
  changed: () => page.item && screen.showWays(),
  unreachable: screen.showUnreachable,
}, keeping));
const outbox = (page.outbox = createOutbox(space, server.headers, {
  ...replies, following: ahead.following, isServing: server.isServing,
  reported(assignment) {
    if (page.open?.payload.assignment === assignment) page.open.isReported = true;
  },
}));
/** Whether suggestions may be shown on an item now: `after`, once the server has the person's answer. */
const maySee = ({ payload: { assignment }, revision, stage: state }) => page.prefill === "shown"
  || (page.prefill === "" && revision === 0)
  || (["", "after"].includes(page.prefill) && revision > 0 && state !== "waiting" && !outbox.has(assignment));
page.inquire = createInquirer(server, maySee);
const itemNow = () => page.item;
const highlighter = (page.highlighter = createHighlighter(stage, itemNow, { announce, showStatus: screen.showStatus, focus: () => chooser.comeBack(), left: screen.refresh }, () => settings.get("snap") !== false));
const chooser = (page.chooser = createChooser(stage, itemNow, { announce, showStatus: screen.showStatus, refresh: screen.refresh }, highlighter));

const pane = createPane(settings, () => page.item && chooser.comeBack());

// ---- buttons and keys ----

function redo(item) {
  const group = item && item.stage !== "waiting" && item.redo();
  if (!group) return screen.showStatus(gettext("Nothing to redo"));
  chooser.focus(group);
  return announce(gettext("Redone"));
}

const actions = {
  submit: submitting.submit,
  undo() {
    if (page.item?.stage === "waiting") return undefined;
    const group = page.item?.undo();
    if (!group) return walk.back();
    chooser.focus(group);
    return announce(gettext("Undone"));
  },
  redo: () => redo(itemNow()),
  back: walk.back,
  forward: walk.forward,
  accept: chooser.accept,
  cannotJudge: chooser.cannotJudge,
  pick: chooser.pick,
  whole: chooser.whole,
  only: chooser.only,
  up: chooser.up,
  down: chooser.down,
  highlight: highlighter.start,
  shared: createShared(stage, itemNow, settings, announce),
  source: createViews(stage, itemNow, settings, announce),
  help: () => openDialog("help"),
  guidelines: () => guidelines.known() && (pane.fits() ? pane.toggle() : openDialog("guidelines")),
  tour: createTour(settings, work),
  acknowledge() {
    const version = guidelines.acknowledge();
    if (!version) return;
    keeping.note({ acknowledged: version });
    outbox.acknowledge(work.dataset.acknowledgeUrl, version);
    if (!page.item) screen.goOn();
  },
  skip: () => submitting.askSkip(false),
  flag: () => submitting.askSkip(true),
  number: () => page.item && openDialog("number"),
  link: () => page.item && copy(`${location.origin}${work.dataset.link}?item=${page.item.payload.assignment}`, one('[data-do="link"]')),
  retry: ahead.lookAgain,
  comment() {
    if (!page.item) return;
    one("[data-comment-box]", page.item.node).open = true;
    one("[data-comment]", page.item.node).focus();
  },
  words: page.focusWords,
};

listenToButtons(actions);
listenToKeys(actions, {
  keeps: typeAhead.keeps,
  isOn: () => settings.get("single-keys") !== false,
  first: (event) => chooser.naming(event) || highlighter.key(event),
  own: chooser.key,
});
for (const name of ["single-keys", "snap"]) {
  const box = one(`[data-${name}]`);
  if (!box) continue; // a task without highlights
  box.checked = settings.get(name) !== false;
  box.addEventListener("change", () => settings.set(name, box.checked));
}

window.addEventListener("pagehide", () => {
  screen.report(page.open);
  changes.sendOrKeep();
  if (!keeping.isOn) ahead.giveBack();
});
window.addEventListener("beforeunload", (event) => isUnsent(page.item) && page.item.missing() && event.preventDefault());
window.addEventListener("pageshow", (event) => event.persisted && ahead.fetch());
window.addEventListener("storage", (event) => {
  // Answered in another tab, whether it is on the screen here, fetched ahead, or still on its way from the server.
  if (!event.key?.startsWith(`assay:outbox:${space}:`) || !event.newValue) return;
  const { assignment, refusal, kind, body } = JSON.parse(event.newValue);
  if (kind === "acknowledge") return void (guidelines.acknowledgedElsewhere(body.version) && !page.item && screen.goOn());
  if (refusal) return void page.sent.delete(assignment);
  if (!body.park) page.sent.add(assignment);
  if (kind === "submit" && body.want_next) trail.add(assignment);
  ahead.forget(assignment);
  const { open } = page;
  if (open?.stage === "open" && open.payload.assignment === assignment) {
    notice("other-tab", "warning", gettext("The item that was here has been answered in another tab."), [[gettext("Dismiss"), () => {}]]);
    open.stage = "sent";
    if (page.item === open) screen.advance();
    else page.open = null; // the person is at an earlier item
  }
});

begin(page);
