// The case after the one on the screen, fetched before it is needed: it is there at once after a decision or "later". While
// the decision is on its way, keys wait for it; where it is not stored, its case is on the screen again.

/** `page`: main.js. */
export function createAhead(page) {
  let held = null; // {after, reply}: the case that follows `after`
  let stop = new AbortController();

  return {
    /** Fetches it, where nothing is on its way. */
    async fetch() {
      stop.abort();
      stop = new AbortController();
      const after = page.item?.payload.item;
      held = null;
      if (!after || page.requests.isBusy()) return;
      const { signal } = stop;
      const body = { passed: [...page.passed, after], keep: after };
      const reply = await page.requests.post(`next/?${page.work.dataset.query}`, body, signal).catch(() => null);
      if (reply?.state === "item" && !signal.aborted && page.item?.payload.item === after) held = { after, reply };
    },
    /** The reply that brought it, or nothing; it is no longer held. */
    take() {
      const next = held?.after === page.item?.payload.item ? held?.reply : undefined;
      held = null;
      return next;
    },
  };
}
