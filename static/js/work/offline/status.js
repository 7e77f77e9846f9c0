// What the page says of work without a connection: how many items are ready, how many answers wait, until when the items
// are held, and afterwards what became of each answer.

import { waysToKeep } from "../sending/copies.js";
import { notice, one } from "../shell.js";
import { gettext, language, ngettext } from "../../words.js";

/** `page`: main.js. */
export function createStatus(page) {
  let sent = null; // since the connection was lost: {stored, extra, refused}

  const isAway = (state) => !navigator.onLine || state.isFailing || page.keeping.isKept;

  function showReady() {
    const line = one("[data-ready]");
    line.hidden = !page.keeping.isOn;
    const words = gettext("{n} ready", { n: page.ahead.count() });
    if (line.textContent !== words) line.textContent = words;
  }

  function away(waiting) {
    const { ahead, keeping } = page;
    const held = ahead.until();
    const isHeld = held < Infinity && held > Date.now();
    const time = new Date(isHeld ? held : 0).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
    return [
      gettext("No connection."),
      isHeld
        ? ngettext("{n} more item is ready, held for you until {time}.", "{n} more items are ready, held for you until {time}.", ahead.count(), { time })
        : ngettext("{n} more item is ready.", "{n} more items are ready.", ahead.count()),
      waiting ? ngettext("{n} answer is kept in this browser, to be sent in order when the connection is back.", "{n} answers are kept in this browser, to be sent in order when the connection is back.", waiting) : gettext("Your answers will be kept in this browser, and sent in order when the connection is back."),
      gettext("An answer that comes too late is stored all the same: as an extra answer if another annotator has the item by then. Answers are also stored if the project has been closed."),
      keeping.isSafe() ? "" : gettext("Do not reload this page: this browser cannot show it without a connection."),
    ].filter(Boolean).join(" ");
  }

  function back({ stored, extra, refused }) {
    return [
      `${gettext("The connection is back.")} ${ngettext("{n} answer was sent: {stored} stored", "{n} answers were sent: {stored} stored", stored + extra + refused, { stored })}`,
      extra ? `, ${gettext("{n} stored as extra, since another annotator has the item", { n: extra })}` : "",
      refused ? `, ${gettext("{n} not accepted and kept in this browser", { n: refused })}` : "", ".",
    ].join("");
  }

  return {
    showReady,
    /** What the server said to an answer that was sent: "stored", "extra" or "refused". */
    count(what) {
      if (sent) sent[what] += 1;
    },
    /** The outbox's state has changed. */
    show(state) {
      if (!page.keeping.isOn) return;
      showReady();
      if (isAway(state) && (state.waiting || !navigator.onLine)) {
        sent ??= { stored: 0, extra: 0, refused: 0 };
        const text = away(state.waiting);
        if (one('[data-notice="away"] p')?.textContent !== text) notice("away", "warning", text, state.waiting ? waysToKeep(() => page.outbox.unsent()) : []);
      } else if (sent && !state.waiting) {
        notice("away");
        if (sent.stored + sent.extra + sent.refused) notice("back", sent.extra + sent.refused ? "warning" : "success", back(sent), [[gettext("Dismiss"), () => {}]]);
        sent = null;
      }
    },
  };
}
