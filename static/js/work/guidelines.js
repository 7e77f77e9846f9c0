// The guidelines that this person acknowledged, and the notice of a newer version, which stands before the next item.
// An answer carries the version that was acknowledged on this page when it was given.

import { nodesOf, one } from "./shell.js";

/** `work` is the page's element with the version that the person acknowledged before. */
export function createGuidelines(work) {
  let known = Number(work.dataset.guidelines) || null;
  let newer = null; // {version, node}
  one('[data-do="guidelines"]').hidden = known === null;

  function know({ version, node }) {
    known = version;
    newer = null;
    one("[data-guidelines-known]").replaceChildren(...one("[data-guidelines-text]", node).cloneNode(true).childNodes);
    one("[data-guidelines-version]").textContent = version;
    one('[data-do="guidelines"]').hidden = false;
  }

  const build = (html) => one("[data-guidelines]", nodesOf(html));

  return {
    known: () => known,
    isPending: () => newer !== null,
    /** What the server tells of a newer version: {version, acknowledged, html}, or nothing. `done` is the last version
     * that this browser has yet to say it was acknowledged. */
    receive(offered, done = 0) {
      if (!offered || offered.version <= Math.max(known ?? 0, newer?.version ?? 0)) return;
      const found = { version: offered.version, node: build(offered.html) };
      if (Math.max(offered.acknowledged ?? 0, done) >= offered.version) know(found); // on another page
      else newer = found;
    },
    /** Another tab acknowledged it. True where this page was waiting for that. */
    acknowledgedElsewhere(version) {
      if (newer?.version !== version) return false;
      know(newer);
      return true;
    },
    show(stage) {
      stage.replaceChildren(newer.node);
      newer.node.focus({ preventScroll: true });
    },
    /** The version that the person has just acknowledged; null where nothing is waiting. */
    acknowledge() {
      if (!newer) return null;
      know(newer);
      return known;
    },
  };
}
