// The answers on their way to the server, as this browser stores them: which of them may be sent, and in which order.
// An entry is {id, kind, assignment, url, body, revision, tab, created, tries, due, failures, isAside, refusal}.

import { createStore } from "./store.js";

const ADOPT_AFTER_MS = 15000; // another tab's answer is sent by this one when it has waited this long
// Sent and tried again like answers, without a word to the person: what they have acknowledged, in its place among the
// answers, and what their browser painted, after them, since answers say that themselves.
const NOTES = ["acknowledge", "painted"];

export const isNote = ({ kind }) => NOTES.includes(kind);

/** `tab` is the name of this tab. */
export function createQueue(space, tab) {
  const store = createStore(`assay:outbox:${space}:`);
  const entries = () => store.keys().map((key) => store.get(key)).filter(Boolean).sort((a, b) => (a.kind === "painted") - (b.kind === "painted") || a.created - b.created);
  const isMine = (entry) => entry.tab === tab || Date.now() - Math.max(entry.created, entry.due) > ADOPT_AFTER_MS;

  /** Answers to one item go in their order, whichever tab they are from: a later answer never overtakes. */
  const before = (entry, all) => (isNote(entry) ? [] : all.filter((other) => other.assignment === entry.assignment
    && !isNote(other) && !other.refusal && other.created < entry.created));
  const isHeld = (entry, all) => entry.isAside || before(entry, all).some((other) => other.isAside);

  const answers = () => entries().filter((entry) => !isNote(entry));
  const ordered = () => entries().filter((entry) => entry.kind !== "painted");
  const notes = (kind) => entries().filter((entry) => entry.kind === kind);

  /** What may be sent, in its order. */
  function sendable() {
    const all = entries();
    return all.filter((entry) => !entry.refusal && !entry.isAside && !before(entry, all).length);
  }

  return {
    ...store, entries, answers, notes, sendable, isMine,
    /** The waiting time of an entry in milliseconds: other tabs' are left to them first. */
    delayOf: (entry) => (entry.tab === tab ? entry.due - Date.now() : ADOPT_AFTER_MS),
    has: (assignment) => answers().some((entry) => entry.assignment === assignment && !entry.refusal),
    /** Where the answers are: how many wait, which are refused, and lists of those set aside, one for each item. */
    summary() {
      const all = answers();
      const refused = all.filter((entry) => entry.refusal);
      const waiting = all.filter((entry) => !entry.refusal && !isHeld(entry, all));
      const isFailing = waiting.length > 0 && ordered().some((entry) => !entry.refusal && !isHeld(entry, all) && entry.tries > 0);
      const held = all.filter((entry) => !entry.refusal && isHeld(entry, all));
      const aside = [...new Set(held.map((entry) => entry.assignment))].map((assignment) => held.filter((entry) => entry.assignment === assignment));
      return { waiting: waiting.length, isFailing, refused, aside, isSafe: store.isSafe() };
    },
    /** Whether an answer of this tab is under way for the first time, which usually brings the next item back. One
     * that failed holds up those behind it. */
    isBusy() {
      const all = ordered();
      const waiting = all.filter((entry) => !entry.refusal && !isHeld(entry, all) && isMine(entry));
      return waiting.some((entry) => entry.tab === tab && !isNote(entry)) && waiting.every((entry) => entry.tries === 0);
    },
    isWaiting() {
      const all = answers();
      return all.some((entry) => entry.tab === tab && !entry.refusal && !isHeld(entry, all));
    },
  };
}
