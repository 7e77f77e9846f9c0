// What the browser keeps so that the labelling page works without a connection, and after a reload without one: the page,
// its files, and the items that are ready, with the one on the screen. A project allows it (`items_ahead`); the browser
// does so on https and localhost. Another tab of the same person has the same.

import { createStore } from "../sending/store.js";
import { CACHES, NOTES, forgetOthers } from "./forgetting.js";

/** `work` is the page's element. */
export function createKeeping(work) {
  const { user, project, workerUrl, static: files } = work.dataset;
  const most = Number(work.dataset.itemsAhead);
  const page = new URL(".", new URL(workerUrl, location.href)).pathname;
  const name = `${CACHES}${page}:${user}`;
  const isOn = "caches" in self && Boolean(navigator.serviceWorker);
  const since = createStore(NOTES);
  const addressOf = (assignment) => `${page}kept/${assignment}`;
  let last = Promise.resolve(); // one after another: what is dropped must not be stored again by an earlier request
  let isSafe = true;

  const then = (work) => (isOn ? (last = last.then(() => caches.open(name)).then(work).catch(() => (isSafe = false))) : last);
  const json = (value) => new Response(JSON.stringify(value), { headers: { "Content-Type": "application/json" } });

  /** The page as the server makes it, with its headers, and a mark by which it knows itself again. */
  async function keepPage(cache) {
    const response = await fetch(page, { redirect: "manual" });
    if (!response.ok) return;
    const html = (await response.text()).replace('<main id="work"', '<main id="work" data-is-kept');
    await cache.put(page, new Response(html, { headers: response.headers }));
    const loaded = performance.getEntriesByType("resource").map((one) => new URL(one.name)).filter((url) => url.origin === location.origin && url.pathname.startsWith(files));
    await cache.addAll([...new Set(loaded.map((url) => url.pathname))]);
  }

  return {
    most, isOn,
    /** Without that, a reload needs a connection. */
    isSafe: () => isOn && isSafe,
    /** Whether this is the page as it was kept, and not from the server. */
    isKept: "isKept" in work.dataset,
    /** What has changed since the page was kept: {progress, recent, acknowledged}, or nothing. */
    since: () => since.get(`${project}:${user}`),
    note: (more) => isOn && since.set(`${project}:${user}`, { ...since.get(`${project}:${user}`), ...more }),
    keepItem: (html, payload) => then((cache) => cache.put(addressOf(payload.assignment), json({ html, payload, at: Date.now() }))),
    drop: (assignment) => then((cache) => cache.delete(addressOf(assignment))),
    /** The one of an assignment, or nothing. */
    async item(assignment) {
      return (await this.items()).find(({ payload }) => payload.assignment === assignment);
    },
    /** Items in the order in which they came: {html, payload, at}. */
    async items() {
      let found = [];
      await then(async (cache) => {
        const requests = (await cache.keys()).filter((request) => new URL(request.url).pathname.startsWith(addressOf("")));
        found = await Promise.all(requests.map(async (request) => (await cache.match(request)).json()));
      });
      return found.sort((a, b) => a.at - b.at);
    },
    /** After the page has loaded, so that it delays nothing. */
    async start() {
      await forgetOthers(user);
      if (!isOn) return;
      if (!this.isKept) await caches.open(name).then(keepPage).catch(() => (isSafe = false));
      await navigator.serviceWorker.register(workerUrl, { scope: page });
    },
  };
}
