// What this person does in other tabs of the browser: an item that was answered there is not labelled here again.

import { notice } from "./shell.js";

/** `page`: main.js. */
export function listenToTabs(page) {
  const { ahead, guidelines, sent, space, trail } = page;
  window.addEventListener("storage", (event) => {
    // Answered in another tab, whether it is on the screen here, fetched ahead, or still on its way from the server.
    if (!event.key?.startsWith(`assay:outbox:${space}:`) || !event.newValue) return;
    const { assignment, refusal, kind, body } = JSON.parse(event.newValue);
    if (kind === "acknowledge") return void (guidelines.acknowledgedElsewhere(body.version) && !page.item && page.screen.goOn());
    if (refusal) return void sent.delete(assignment);
    sent.add(assignment);
    if (kind === "submit" && body.want_next) trail.add(assignment);
    ahead.forget(assignment);
    const { open } = page;
    if (open?.stage === "open" && open.payload.assignment === assignment) {
      notice("other-tab", "warning", "The item that was here has been answered in another tab.", [["Dismiss", () => {}]]);
      open.stage = "sent";
      if (page.item === open) page.screen.advance();
      else page.open = null; // the person is at an earlier item
    }
  });
}
