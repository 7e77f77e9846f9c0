// The item after the one on the screen, fetched before it is needed; or the news that there is none.

/**
 * `page` says what is on the screen (`open()` the item that is not answered yet, `isIdle()` nothing to label,
 * `isAnswered(assignment)` by this browser, `isSending()` an answer, `aside()` the assignment of one that is not sent by
 * itself any more). It is called to `advance()`, when the ways out of the item have `changed()`, with what the server
 * says of guidelines (`receiveGuidelines(…)`), when the work has `ended(offer)` for everyone or for this person, when it
 * `goesOn()`, and when the server is `unreachable(error)`.
 */
export function createAhead(server, build, page) {
  let held = null; // {item} never shown, or {empty, retry}
  let fetching = null;
  let leaseTimer = 0;

  const holds = (assignment) => held?.item?.payload.assignment === assignment;

  /** Keep what the server offers. An item that the page has already is ignored, one too many is released. */
  function receive(offer) {
    if (!offer) return;
    if (offer.state === "empty") {
      if (offer.ends) {
        giveBack(); // an item that was never shown
        page.ended(offer);
      }
      if (!held?.item) held = { empty: offer.html, retry: offer.retry_seconds };
    } else {
      const { assignment } = offer.payload;
      const isDone = page.isAnswered(assignment);
      if (isDone && page.isIdle() && !page.isSending()) setTimeout(lookAgain, page.aside() ? 5000 : 200); // no answer brings another one
      page.goesOn();
      if (isDone || holds(assignment) || page.open()?.payload.assignment === assignment) return;
      if (held?.item) return void server.release(assignment);
      held = { item: build(offer.html, offer.payload) };
      performance.mark("assay:ahead");
      clearTimeout(leaseTimer);
      if (offer.payload.lease_seconds) leaseTimer = setTimeout(renew, offer.payload.lease_seconds * 800);
    }
    if (page.isIdle()) page.advance();
    else page.changed();
  }

  function fetch() {
    if (held?.item || fetching) return;
    // The server goes on offering an item whose answer is set aside, unless the request names it.
    fetching = server.next(page.open()?.payload.assignment ?? page.aside())
      .then((offer) => {
        fetching = null;
        page.receiveGuidelines(offer.guidelines);
        receive(offer);
      })
      .catch((error) => {
        fetching = null;
        if (error.reply?.state === "empty") return receive(error.reply);
        if (page.isIdle() && !held) page.unreachable(error);
      });
  }

  function giveBack() {
    if (held?.item) server.release(held.item.payload.assignment);
    held = null;
  }

  function renew() {
    if (!held?.item) return;
    held = null; // its lease is nearly over; the server extends it or gives another one
    fetch();
  }

  function lookAgain() {
    if (held && !held.item) held = null;
    if (page.isIdle()) fetch();
  }

  return {
    receive, fetch, lookAgain,
    isKnown: () => held !== null,
    /** The newest assignment that the page has, and since when it is on the screen, where it is. */
    following() {
      const newest = held?.item ?? page.open();
      return { after: newest?.payload.assignment ?? null, after_shown_at: (newest?.stage === "open" && newest.shownAt) || null };
    },
    /** {item}, {empty, retry} or null; it is no longer kept here. */
    take() {
      const next = held;
      held = null;
      if (next?.item) clearTimeout(leaseTimer);
      return next;
    },
    forget(assignment) {
      if (holds(assignment)) held = null;
    },
    giveBack,
  };
}
