// Requests of the adjudication page, one at a time: what is decided is stored before the next item is shown.

import { notice, one, showSignedOut } from "../work/shell.js";

const KEPT = "Nothing is lost: what you chose and wrote is kept in this browser.";

/** `failed()` is called when a request has stored nothing. */
export function createRequests(work, server, failed) {
  let isBusy = false; // a request is under way: keys wait for its reply

  async function post(path, body, signal) {
    const reply = await fetch(`${work.dataset.address}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...server.headers() },
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
    const isJson = reply.headers.get("Content-Type")?.startsWith("application/json");
    const isSignedOut = reply.type === "opaqueredirect" || reply.status === 401;
    return { ...(isJson ? await reply.json() : { message: "The server did not accept this. Reload the page." }), status: isSignedOut ? 401 : reply.status };
  }

  function showSaving(state, text) {
    one("[data-save-state]").dataset.saveState = state;
    one("[data-save-text]").textContent = text;
  }

  return {
    post,
    isBusy: () => isBusy,
    /** Calls `then(reply)`. What fails is reported, with a button to do it `again`, and the item stays as it is; where
     * another one is on the screen by then, `back()` returns to it. */
    async ask(path, body, then, again, back = () => {}) {
      if (isBusy) return undefined;
      isBusy = true;
      showSaving("saving", "Saving");
      const reply = await post(path, body).catch(() => null);
      isBusy = false;
      const isStored = reply !== null && reply.status < 400;
      showSaving(...(isStored ? ["saved", "Saved"] : ["waiting", "Not saved"]));
      if (!isStored) failed();
      if (!reply || reply.status === 401) back();
      notice("offline", "error", reply ? "" : `The server cannot be reached. ${KEPT}`, [["Try again", again]]);
      if (reply?.status === 401) return showSignedOut(reply.signed_in, KEPT, work.dataset, again);
      notice("signed-out");
      return reply ? then(reply) : undefined;
    },
  };
}
