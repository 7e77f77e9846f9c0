// What the labelling page keeps for work without a connection belongs to one person who is signed in. Their answers that
// are not sent yet are no part of it.

export const CACHES = "assay-work:"; // then the page's address and the person: CACHES/projects/x/work/:7
export const NOTES = "assay:kept:"; // in localStorage

const isOf = (user) => (name) => user && name.endsWith(`:${user}`);

/** Removes what others than this person left in this browser; `user` is empty where nobody is signed in. */
export async function forgetOthers(user) {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(NOTES) && !isOf(user)(key)) localStorage.removeItem(key);
  } catch {
    /* storage is forbidden: nothing is there */
  }
  if (!("caches" in self)) return;
  for (const name of await caches.keys()) if (name.startsWith(CACHES) && !isOf(user)(name)) await caches.delete(name);
  if (!user) for (const registration of (await navigator.serviceWorker?.getRegistrations()) ?? []) await registration.unregister();
}
