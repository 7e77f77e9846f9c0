// Shows one project's labelling page without a connection: the page and its files as they were kept last. A service
// worker, which acts on what is below its own address and on the files that this page asks for. It keeps nothing itself.

const page = new URL(self.registration.scope).pathname;
const CACHES = `assay-work:${page}:`; // one for each person; keeping.js fills them
const WAIT_MS = 5000; // how long a page that was kept waits for the server
const IS_OVER = [401, 403, 404]; // this person labels here no longer

const names = async () => (await caches.keys()).filter((name) => name.startsWith(CACHES));

async function kept(address) {
  for (const name of await names()) {
    const found = await (await caches.open(name)).match(address, { ignoreSearch: true, ignoreVary: true });
    if (found) return found;
  }
  return undefined;
}

/** A page that leads elsewhere, to sign in as a rule, is nobody's here any more. */
async function shownPage(request) {
  const asked = fetch(request).catch(() => null);
  const response = await Promise.race([asked, new Promise((done) => setTimeout(done, WAIT_MS))]);
  if (response?.type === "opaqueredirect" || IS_OVER.includes(response?.status)) for (const name of await names()) await caches.delete(name);
  if (response && response.status < 500) return response;
  return (await kept(page)) ?? (await asked) ?? Response.error();
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") {
    if (new URL(request.url).pathname === page) event.respondWith(shownPage(request));
  } else if (["script", "style", "image", "font"].includes(request.destination)) {
    event.respondWith(fetch(request).catch(async (error) => {
      const found = await kept(request.url);
      if (found) return found;
      throw error;
    }));
  }
});
