// The items after the one on the screen, fetched before they are needed; or the news that there are none.

import { afterPaint } from "./shell.js";

const RENEW_AT = 0.8; // of a lease
const LOOK_MS = 60000; // how often one that could not be renewed is tried again
const AT_ONCE = 10; // items in a reply

/**
 * `page` says what is on the screen (`open()` the item that is not answered yet, `isIdle()` nothing to label,
 * `isAnswered(assignment)` by this browser, `isSending()` an answer, `aside()` the assignment of one that is not sent by
 * itself any more). It is called to `advance()`, when the ways out of the item have `changed()`, with what the server
 * says of guidelines (`receiveGuidelines(…)`), when the work has `ended(offer)` for everyone or for this person, when it
 * `goesOn()`, and when the server is `unreachable(error)`. `keeping` says how many items may be ready, and keeps them.
 */
export function createAhead(server, build, page, keeping) {
  let ready = []; // {html, payload, renewAt, until, item} never shown, in the order in which they are given out
  let nothing = null; // {empty, retry}: there is no further item
  let fetching = null;
  let timer = 0;

  const assignmentOf = ({ payload }) => payload.assignment;
  const isReady = (assignment) => ready.some((one) => assignmentOf(one) === assignment);
  const isFull = () => nothing !== null || ready.length >= keeping.most;
  const after = () => page.open()?.payload.assignment ?? page.aside(); // the server goes on offering what is set aside, unless it is named

  /** The first one is made before it is needed. */
  function prepare() {
    const [first] = ready;
    if (first && !first.item) {
      first.item = build(first.html, first.payload);
      performance.mark("assay:ahead");
    }
  }

  function lease(one, seconds, since = Date.now()) {
    one.until = seconds ? since + seconds * 1000 : Infinity;
    one.renewAt = since + seconds * 1000 * RENEW_AT || Infinity;
    wait();
  }

  function wait(least = 0) {
    clearTimeout(timer);
    const next = Math.min(...ready.map((one) => one.renewAt));
    if (next < Infinity) timer = setTimeout(renew, Math.min(Math.max(next - Date.now(), least), 2 ** 31 - 1));
  }

  /** Whose lease is nearly over: the server extends it, or gives another one. Without a connection they stay. */
  async function renew() {
    for (const one of ready.filter(({ renewAt }) => renewAt <= Date.now())) {
      const others = ready.filter((other) => other !== one).map(assignmentOf);
      const offer = await server.next(after(), others).catch(() => null);
      if (!offer) return wait(LOOK_MS);
      if (offer.payload?.assignment === assignmentOf(one)) lease(one, offer.payload.lease_seconds);
      else if (isReady(assignmentOf(one))) {
        forget(assignmentOf(one));
        receive(offer);
      }
    }
    return wait(LOOK_MS);
  }

  /** Keep what the server offers. An item that the page has already is ignored, one too many is released. Returns
   * whether it is a further one. */
  function receive(offer) {
    if (!offer || offer.state === "enough") return false;
    const isFurther = offer.state !== "empty";
    if (!isFurther) {
      if (offer.ends) {
        giveBack(); // items that were never shown
        page.ended(offer);
      }
      nothing = { empty: offer.html, retry: offer.retry_seconds };
    } else {
      const { html, payload } = offer;
      const { assignment } = payload;
      const isDone = page.isAnswered(assignment);
      if (isDone && page.isIdle() && !page.isSending()) setTimeout(lookAgain, page.aside() ? 5000 : 200); // no answer brings another one
      page.goesOn();
      if (isDone || isReady(assignment) || page.open()?.payload.assignment === assignment) return false;
      if (ready.length >= keeping.most) return void server.release(assignment);
      nothing = null;
      add({ html, payload });
      keeping.keepItem(html, payload);
    }
    if (page.isIdle()) page.advance();
    else page.changed();
    return isFurther; // an empty page asks again when it is due, not at once
  }

  function add(one, since) {
    ready.push(one);
    prepare();
    lease(one, one.payload.lease_seconds, since);
  }

  function fetch() {
    if (isFull() || fetching) return;
    const most = page.isIdle() ? 1 : Math.min(keeping.most - ready.length, AT_ONCE); // the person waits for the first one
    fetching = server.next(after(), ready.map(assignmentOf), most)
      .then((offer) => {
        fetching = null;
        page.receiveGuidelines(offer.guidelines);
        const { more = [] } = offer;
        if ([offer, ...more].map(receive).at(-1)) fetch();
      })
      .catch((error) => {
        fetching = null;
        if (error.reply?.state === "empty") return void receive(error.reply);
        if (page.isIdle() && !ready.length && !nothing) page.unreachable(error);
      });
  }

  function giveBack() {
    for (const { payload: { assignment } } of ready) {
      server.release(assignment);
      keeping.drop(assignment);
    }
    ready = [];
    nothing = null;
  }

  function lookAgain() {
    nothing = null;
    if (page.isIdle()) fetch();
  }

  function forget(assignment) {
    if (isReady(assignment)) keeping.drop(assignment);
    ready = ready.filter((one) => assignmentOf(one) !== assignment);
  }

  window.addEventListener("online", renew);

  return {
    receive, fetch, lookAgain, forget, giveBack, isFull,
    isKnown: () => ready.length > 0 || nothing !== null,
    count: () => ready.length,
    /** When the first of them is given to another annotator, in milliseconds; Infinity: at no time that is known. */
    until: () => Math.min(...ready.map((one) => one.until)),
    /** Items that were kept from an earlier visit: {html, payload, at}. */
    restore(kept) {
      for (const { html, payload, at } of kept) if (!isReady(payload.assignment) && ready.length < keeping.most) add({ html, payload }, at);
    },
    /** The assignment on the screen, since when it is there, and those that are ready. */
    following() {
      const open = page.open();
      return { after: open?.payload.assignment ?? null, after_shown_at: (open?.stage === "open" && open.shownAt) || null, holds: ready.map(assignmentOf) };
    },
    /** {item}, {empty, retry} or null; it is no longer ready. */
    take() {
      const next = ready.shift();
      if (!next) {
        const news = nothing;
        nothing = null;
        return news;
      }
      nothing = null;
      next.item ??= build(next.html, next.payload);
      afterPaint(prepare);
      wait();
      return next;
    },
  };
}
