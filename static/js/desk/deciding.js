// Deciding the item on the screen, taking the last decision back, and showing what is hidden until it is asked for.

import { announce, notice } from "../work/shell.js";
import { showAnswers, showSuggestions } from "./answers.js";

const DISMISS = ["Dismiss", () => {}];

/** `page`: main.js. */
export function createDeciding(page) {
  const { drafts, passed, requests, screen, trail, work } = page;
  const addressOf = (item) => `items/${item.payload.item}/`;
  const isOutdated = (reply) => reply.status === 409;
  const showOutdated = (reply) => notice("outdated", "warning", reply.message, [DISMISS]);

  /** With an outcome: that no label is right, or that the item, or its current unit, is dropped. */
  function decide(outcome = "") {
    const decided = page.item;
    if (!decided || requests.isBusy()) return;
    const isPart = outcome && decided.payload.units.length > 1;
    const missing = outcome ? null : decided.missing();
    if (missing) {
      screen.showStatus(missing.message, "missing");
      if (missing.group) page.chooser.focus(missing.group);
      return;
    }
    const { assignment, basis, options_version } = decided.payload;
    const { more } = decided.draft();
    const coming = isPart ? undefined : page.ahead.take();
    const body = {
      basis, options_version, judgements: outcome ? [] : decided.judgements(), outcome, units: isPart ? [decided.current().unit] : undefined, note: decided.comment(),
      reason: more.reason, for_guidelines: more.for_guidelines, then: isPart ? "same" : coming ? "" : "next", passed,
    };
    const isAway = () => page.item !== decided; // the next case is on the screen already
    requests.ask(`${addressOf(decided)}decide/?${work.dataset.query}`, body, (reply) => {
      if (isOutdated(reply)) {
        screen.receive(reply);
        return showOutdated(reply);
      }
      if (reply.status >= 400) {
        if (isAway()) screen.showAgain(decided);
        return screen.showStatus(reply.message, "missing");
      }
      notice("outdated");
      if (isPart) drafts.set(assignment, { ...decided.draft(), basis: reply.after.payload.basis });
      else drafts.remove(assignment);
      trail.push({ item: decided.payload.item, done: reply.done });
      if (reply.after) return screen.receive(reply.after);
      screen.showWaiting(coming.waiting - 1);
      screen.refresh();
      page.ahead.fetch();
      return page.typeAhead.press(true);
    }, () => page.item === decided && decide(outcome), () => isAway() && screen.showAgain(decided));
    if (coming) screen.receive(coming, 1);
  }

  function undo() {
    if (requests.isBusy()) return undefined;
    const group = page.item?.undo();
    if (group) return page.chooser.focus(group);
    const last = trail.at(-1);
    if (!last) return screen.showStatus("Nothing to undo");
    return requests.ask(`items/${last.item}/undo/?${work.dataset.query}`, { done: last.done }, (reply) => {
      if (reply.status < 400) trail.pop();
      if (isOutdated(reply)) return showOutdated(reply);
      screen.receive(reply);
      return announce("The last decision is undone");
    }, undo);
  }

  /** Fills in the answer of one letter, to be changed or decided. */
  function useAnswer(letter) {
    const { item } = page;
    const from = item?.payload.said.find((one) => one.letter === letter);
    if (!from) return item && screen.showStatus(`There is no answer ${letter}`, "missing");
    const group = item.current();
    const isMany = item.payload.units.length > 1;
    item.adopt(isMany ? from.judgements.filter((one) => one.unit === group.unit) : from.judgements);
    announce(`Filled in the answer of ${letter}`);
    return isMany && item.unanswered() ? page.chooser.next(group) : undefined;
  }

  /** Names of people, or checkers' suggestions. */
  function reveal(what) {
    const about = page.item;
    if (!about) return;
    requests.ask(`${addressOf(about)}reveal/`, { what }, (reply) => {
      if (reply.status >= 400) return screen.showStatus(reply.message, "missing");
      if (reply.names) {
        about.names = reply.names;
        showAnswers(about);
        announce("Names are shown");
      } else showSuggestions(about, reply.suggestions);
      return page.typeAhead.press(false);
    }, () => page.item === about && reveal(what));
  }

  return { decide, undo, useAnswer, reveal };
}
