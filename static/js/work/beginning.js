// The first item on the page, and what earlier visits left in this browser.

import { one, showProgress } from "./shell.js";

/** `page`: main.js. */
export async function begin(page) {
  const { ahead, changes, keeping, maker, outbox, screen, stage, trail, work } = page;
  const since = keeping.isKept ? keeping.since() : null;
  const newer = one("template[data-newer-guidelines]");
  if (newer) screen.receiveGuidelines({ version: Number(newer.dataset.newerGuidelines), html: newer.innerHTML, acknowledged: since?.acknowledged });
  for (const entry of outbox.waiting()) if (entry.body.want_next) trail.add(entry.assignment); // first answers
  if (keeping.isKept) {
    stage.replaceChildren(); // what was there when the page was kept
    showProgress(since?.progress);
  }
  const first = one("[data-item]", stage);
  if (first) {
    const html = keeping.isOn ? first.outerHTML : "";
    const made = maker.make(first);
    page.open = made;
    const { assignment } = made.payload;
    const isAskedFor = new URLSearchParams(location.search).get("item") === assignment; // a skip that was taken back, too
    if (isAskedFor ? outbox.has(assignment) : outbox.isAnswered(assignment)) {
      // Answered or skipped before the reload, and on its way or stored while this page was: the server says which is next.
      made.stage = "sent";
      screen.advance();
    } else {
      keeping.keepItem(html, made.payload);
      screen.show(made);
      if (!keeping.isOn) ahead.fetch();
    }
  } else if (!keeping.isKept) {
    screen.showNoWays();
    screen.lookLater(Number(work.dataset.retrySeconds));
  }
  stage.hidden = false;
  if (work.dataset.wanted) page.walk.open(work.dataset.wanted);
  changes.offerAll();
  outbox.start();
  const start = () => keeping.start().catch(() => {}); // the browser, or the lost connection, does not let it
  if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
  if (!keeping.isOn) return;
  const kept = await keeping.items();
  const isLeft = ({ payload: { assignment } }) => !outbox.isAnswered(assignment) && page.open?.payload.assignment !== assignment;
  ahead.restore(kept.filter(isLeft));
  if (!page.item && !page.open && ahead.count()) screen.advance();
  else if (keeping.isKept && !page.item) screen.showUnreachable(new Error("no connection"));
  else ahead.fetch();
}
