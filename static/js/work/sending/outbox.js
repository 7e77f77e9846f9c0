// Sends the answers, oldest first, until the server has answered. What fails is tried again, and set aside if it fails
// on its own.

import { alone, post } from "./requests.js";
import { createQueue, isNote } from "./queue.js";
import { createAnswered, tabName, uuid } from "./store.js";
import { gettext } from "../../words.js";

const RETRY_MS = [1000, 2000, 4000, 8000, 15000, 30000, 60000];
const TRIES = 3; // how often the server may fail on one answer before it is set aside and the others are sent

/**
 * `on` has answered(entry, reply), refused(entry, message, reply), wasSetAside(entry) and state({waiting, isFailing,
 * refused, aside, isSignedOut, signedIn, isSafe}), where `aside` is a list of answers about one item each; it knows what is
 * `following()` the answer (the newest assignment that the page has, so that the server offers another one, and since
 * when it is shown) and whether the server `isServing()` other requests; the server knows by then that one is shown
 * (`reported(assignment)`).
 * `headers()` say who sends.
 */
export function createOutbox(space, headers, on) {
  const tab = tabName();
  const queue = createQueue(space, tab);
  const answered = createAnswered(space, tab);
  let isSignedOut = false;
  let signedIn = ""; // another person, since this page was loaded
  let isPumping = false;
  let isWanted = false; // a button was pressed, or the person signed in, during an attempt that failed
  let timer = 0;

  const report = () => on.state({ ...queue.summary(), isSignedOut, signedIn });
  const bodyOf = ({ body }) => (body.want_next ? { ...body, ...on.following() } : body);

  /** Sends one entry; true when the next may follow. */
  async function send(id) {
    const entry = queue.get(id);
    if (!entry || entry.refusal) return true; // another tab was faster
    const body = bodyOf(entry);
    const { status, reply, wait } = await post(entry.url, JSON.stringify(body), headers());
    isSignedOut = status === 401 || (status === 403 && reply?.status !== "forbidden");
    signedIn = reply?.signed_in ?? "";
    if (status >= 200 && status < 300 && reply) {
      queue.remove(id);
      if (body.after_shown_at) on.reported(body.after);
      if (!isNote(entry)) on.answered(entry, reply);
      return true;
    }
    const isForbidden = status === 403 && reply?.status === "forbidden"; // a plain 403 is a lost session or token
    const isFinal = isForbidden || (status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status));
    if (isFinal && isNote(entry)) queue.remove(id); // there is nothing that the person could do
    else if (isFinal) refuse(entry, status, reply);
    if (isFinal) return true;
    // A server that is away or restarts fails on everything; only what fails while the rest works is the answer's own.
    const isOwn = status === 500 || (status > 500 && (await on.isServing()));
    const failures = (entry.failures ?? 0) + (isOwn ? 1 : 0);
    if (failures >= TRIES) {
      queue.set(id, { ...entry, failures: 0, tries: 0, due: 0, isAside: true });
      if (!isNote(entry)) on.wasSetAside(entry);
      return true;
    }
    const delay = wait > 0 ? wait * 1000 : RETRY_MS[Math.min(entry.tries, RETRY_MS.length - 1)] * (0.8 + Math.random() * 0.4);
    queue.set(id, { ...entry, failures, tries: entry.tries + 1, due: Date.now() + delay });
    schedule(delay);
    return false;
  }

  function refuse(entry, status, reply) {
    const details = reply?.errors?.map((error) => error.message).filter(Boolean).join(" ");
    const message = details || reply?.message || reply?.detail || gettext("The server rejected it ({status}).", { status: String(status) });
    const kept = { ...entry, refusal: { status, message, errors: reply?.errors } };
    queue.set(entry.id, kept);
    on.refused(kept, message, reply);
  }

  function schedule(delay) {
    clearTimeout(timer);
    timer = setTimeout(() => pump(), delay + 20);
  }

  /** Sends what is due. `isUrgent` ignores the waiting times: the network came back, or a button was pressed. */
  async function pump(isUrgent = false) {
    if (isPumping) {
      isWanted ||= isUrgent;
      return;
    }
    isPumping = true;
    try {
      await alone(space, tab, async () => {
        for (;;) {
          const next = queue.sendable().find((entry) => isUrgent || queue.isMine(entry));
          if (!next || (!isUrgent && next.due > Date.now()) || !(await send(next.id))) break;
        }
      }, schedule);
    } finally {
      isPumping = false;
      report();
    }
    if (isWanted) {
      isWanted = false;
      return pump(true);
    }
    const left = queue.sendable();
    if (left.length) schedule(Math.max(200, Math.min(...left.map(queue.delayOf))));
  }

  window.addEventListener("online", () => pump(true));
  window.addEventListener("storage", (event) => {
    if (!event.key?.startsWith(queue.prefix)) return;
    report();
    if (!event.newValue) pump(); // what another tab had before ours is done
  });
  document.addEventListener("visibilitychange", () => document.hidden || pump(isSignedOut));
  window.addEventListener("beforeunload", (event) => queue.isSafe() || event.preventDefault());

  // Not found may mean that another person was signed in, and a member who was added again may send what was refused.
  for (const entry of queue.entries()) if ([403, 404].includes(entry.refusal?.status)) queue.set(entry.id, { ...entry, refusal: null, due: 0 });

  function keep(kind, assignment, url, body, revision) {
    const id = body.client_id;
    queue.set(id, { id, kind, assignment, url, body, revision, tab, created: Date.now(), tries: 0, due: 0, refusal: null });
    report();
    pump();
    return id;
  }

  return {
    /** `isLeaving`: the page is about to end, and what it begins to send now may arrive all the same. `revision`: which
     * of the person's answers to the item this is, as far as the page knows. */
    add(kind, assignment, url, body, { isLeaving = false, revision } = {}) {
      const isFirst = !queue.entries().some((entry) => !entry.refusal);
      answered.add(assignment);
      const entry = queue.get(keep(kind, assignment, url, body, revision));
      if (isLeaving && isFirst) post(entry.url, JSON.stringify(bodyOf(entry)), headers()); // it stays in the store: sent twice, it is stored once
    },
    /** Everything that is not stored, refused answers included. */
    unsent: queue.answers,
    /** The answers that are not stored yet, oldest first. */
    waiting: () => queue.entries().filter((entry) => entry.kind === "submit" && !entry.refusal),
    acknowledge: (url, version) => keep("acknowledge", null, url, { client_id: uuid(), version, at: new Date().toISOString() }),
    painted: (assignment, url, at) => keep("painted", assignment, url, { client_id: uuid(), at, suggestions: true }),
    /** When a suggestion was painted on an item, if the server may not know that yet. */
    paintedAt: (assignment) => queue.notes("painted").find((entry) => entry.assignment === assignment)?.body.at ?? null,
    /** The newest version of the guidelines that was acknowledged here and not sent yet. */
    acknowledged: () => Math.max(0, ...queue.notes("acknowledge").map((entry) => entry.body.version)),
    isBusy: queue.isBusy,
    isWaiting: queue.isWaiting,
    /** The assignment of an answer that is set aside, or nothing. */
    aside: () => queue.answers().find((entry) => entry.isAside)?.assignment,
    /** Sends what is set aside about one item. */
    again(assignment) {
      for (const entry of queue.answers()) if (entry.isAside && entry.assignment === assignment) queue.set(entry.id, { ...entry, isAside: false, tab });
      report();
      pump(true);
    },
    has: queue.has,
    /** Whether this browser answered or skipped it: that is on its way or stored, unless the server refused it. */
    isAnswered: (assignment) => queue.has(assignment) || (answered.has(assignment) && !queue.answers().some((entry) => entry.assignment === assignment)),
    discard(id) {
      queue.remove(id);
      report();
      pump(); // what waited behind it
    },
    retry: () => pump(true),
    start() {
      for (const entry of queue.entries()) if (entry.refusal) on.refused(entry, entry.refusal.message); // it waits for the person's decision
      for (const entry of queue.entries()) if (entry.isAside && isNote(entry)) queue.set(entry.id, { ...entry, isAside: false });
      report();
      pump(true);
    },
  };
}
