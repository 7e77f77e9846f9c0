// Requests that carry an answer: one tab at a time sends, and each request has a limit.

import { createStore } from "./store.js";

const TIMEOUT_MS = 30000;
const LOCK_RETRY_MS = 1000;

/** Does the work while no other tab does, where the browser can say so; elsewhere a lock with an end, and the server
 * knows client ids. While another tab holds that, `retry(delay)` is called in place of the work. */
export async function alone(space, tab, work, retry) {
  const name = `assay:send:${space}`;
  if (navigator.locks) return navigator.locks.request(name, work);
  const lock = createStore(name);
  const held = lock.get("");
  if (held && held.tab !== tab && held.until > Date.now()) return retry(LOCK_RETRY_MS);
  lock.set("", { tab, until: Date.now() + TIMEOUT_MS + 5000 });
  try {
    return await work();
  } finally {
    lock.remove("");
  }
}

/** `body` is text. Returns {status, reply, wait}: status 0 where the server cannot be reached, 401 where the person is
 * signed out, and how many seconds the server asks to wait. */
export async function post(url, body, headers) {
  const stop = new AbortController();
  const limit = setTimeout(() => stop.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
      signal: stop.signal,
      keepalive: body.length < 30000, // so that closing the page right after Enter still sends it
      redirect: "manual",
    });
    let reply = null;
    try {
      reply = await response.json();
    } catch {
      /* an error page */
    }
    return { status: response.type === "opaqueredirect" ? 401 : response.status, reply, wait: Number(response.headers.get("Retry-After")) };
  } catch {
    return { status: 0, reply: null };
  } finally {
    clearTimeout(limit);
  }
}
