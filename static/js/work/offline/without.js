// In place of keeping.js and status.js where a project lets one item be ready: the page needs its connection.

import { CACHES, forgetOthers } from "./forgetting.js";

const nothing = () => {};

/** Keeps nothing, and removes what was kept when the project allowed it. */
export function withoutKeeping({ dataset: { user, workerUrl } }) {
  return {
    most: 1, isOn: false, isKept: false,
    isSafe: () => false,
    since: nothing, note: nothing, keepItem: nothing, drop: nothing, item: nothing,
    items: () => [],
    async start() {
      await forgetOthers(user);
      if (!("caches" in self && navigator.serviceWorker)) return;
      const page = new URL(".", new URL(workerUrl, location.href)).pathname;
      await (await navigator.serviceWorker.getRegistration(page))?.unregister();
      await caches.delete(`${CACHES}${page}:${user}`);
    },
  };
}

export const withoutStatus = () => ({ showReady: nothing, count: nothing, show: nothing });
