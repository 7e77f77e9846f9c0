// Walking between items: back through what this person answered, and forth to the one that is open.

import { gettext } from "../words.js";

const KEPT_ITEMS = 20;

/** What this person answered, in the order in which it was stored, as far as it goes. The server knows it; the page holds
 * the last ones, asks for older ones, and adds what is answered meanwhile. `recent` are the assignments that were answered last, oldest first; `hasOlder` says whether there are more;
 * `answered` is how many there are, and `newer` how many of these come after `recent`. */
export function createTrail(server, recent, hasOlder, answered, newer) {
  const pages = new Map(); // of some of them, as they stand
  let trail = [...recent];
  let oldest = recent[0]; // that the server has named
  let known = recent.length; // of the trail, from its beginning: `newer` ones that are not here come after them
  let before = Math.max(0, answered - newer - known); // how many are older than those here
  return {
    keep(assignment, item) {
      pages.delete(assignment);
      pages.set(assignment, item);
      if (pages.size > KEPT_ITEMS) pages.delete(pages.keys().next().value);
    },
    page: (assignment) => pages.get(assignment),
    /** It is fetched again when it is looked at. */
    drop: (assignment) => pages.delete(assignment),
    at: (index) => trail[index],
    indexOf: (assignment) => trail.indexOf(assignment),
    length: () => trail.length,
    hasOlder: () => hasOlder,
    /** The place of an item among those that this person answered; after them where it is not one of these. */
    numberOf(assignment) {
      const index = trail.includes(assignment) ? trail.indexOf(assignment) : trail.length;
      return before + index + (index >= known ? newer : 0) + 1;
    },
    /** The last ones, oldest first. */
    latest: () => trail.slice(-KEPT_ITEMS),
    add(assignment) {
      if (!trail.includes(assignment)) trail.push(assignment);
    },
    forget(assignment) {
      if (trail.indexOf(assignment) >= 0 && trail.indexOf(assignment) < known) known -= 1;
      trail = trail.filter((other) => other !== assignment);
    },
    /** Fetches those before the oldest one. Throws where the server cannot be asked. */
    async fetchOlder() {
      const { assignments, has_older: more } = await server.answered(oldest);
      hasOlder = more;
      oldest = assignments[0] ?? oldest;
      const added = assignments.filter((assignment) => !trail.includes(assignment));
      trail = [...added, ...trail];
      known += added.length;
      before = Math.max(0, before - added.length);
    },
  };
}

/**
 * `page` has item() on the screen, open() that is not answered yet, show(item), advance() to the next one, leave(go),
 * showStatus(text, kind) and changed() (the ways out of the item). `keeping` has items for when there is no connection.
 */
export function createWalk(trail, keeping, server, build, page) {
  /** Whether the person has gone nowhere else since they were at `from`. */
  const isStillAt = (from) => page.item() === from;
  const goTo = (found, from) => (found && isStillAt(from) ? page.leave(() => page.show(found)) : undefined);

  const walk = {
    /** The place of the item on the screen among those on the trail; after them for the open one. */
    position() {
      const item = page.item();
      const index = item ? trail.indexOf(item.payload.assignment) : -1;
      return index < 0 || item === page.open() ? trail.length() : index;
    },
    /** An item that was answered before: as it stands on this page, or from the server; null where it cannot be had. */
    async look(assignment) {
      if (page.open()?.payload.assignment === assignment) return page.open();
      if (trail.page(assignment)) return trail.page(assignment);
      try {
        const { html, payload } = await server.item(assignment).catch(async (error) => (error instanceof TypeError && (await keeping.item(assignment))) || Promise.reject(error)); // no connection
        const found = build(html, payload);
        trail.keep(assignment, found);
        return found;
      } catch (error) {
        if (["404", "410"].includes(error.message)) trail.forget(assignment);
        page.showStatus(error.reply?.message ?? gettext("That item cannot be opened now"), "missing");
        return null;
      }
    },
    async open(assignment) {
      const found = await walk.look(assignment);
      if (found) page.leave(() => page.show(found));
      return found !== null;
    },
    async back() {
      const from = page.item();
      if (walk.position() === 0 && trail.hasOlder()) {
        try {
          await trail.fetchOlder();
        } catch (error) {
          return page.showStatus(error.reply?.message ?? gettext("Earlier items cannot be fetched now"), "missing");
        }
        if (!isStillAt(from)) return undefined;
      }
      const index = walk.position() - 1;
      if (index < 0) {
        if (from) page.changed();
        return page.showStatus(gettext("This is the first item that you answered"));
      }
      return goTo(await walk.look(trail.at(index)), from);
    },
    async forward() {
      const from = page.item();
      if (from && from === page.open()) return page.showStatus(from.missing()?.message ?? gettext("Press Enter to submit this item first"), "missing");
      const index = walk.position() + 1;
      if (index >= trail.length()) return page.leave(() => (page.open() ? page.show(page.open()) : page.advance()));
      return goTo(await walk.look(trail.at(index)), from);
    },
  };
  return walk;
}
