// Requests to the server: those that carry an answer, one tab at a time, and those that no answer depends on.

import { createStore } from "./store.js";

// ---- answers ----

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

// ---- everything else ----

/** `addresses` are those of the page. */
export function createServer(addresses) {
  const of = (template, assignment) => template.replace("__assignment__", encodeURIComponent(assignment));
  const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? addresses.csrf;

  // Another person may have signed in since, in another tab: nothing may be stored as theirs.
  const headers = () => ({ Accept: "application/json", "X-CSRFToken": token(), "X-Assay-User": addresses.user });

  async function getJson(url, options) {
    const response = await fetch(url, { headers: headers(), redirect: "manual", ...options });
    if (!response.ok) {
      const reply = await response.json().catch(() => null);
      throw Object.assign(new Error(String(response.status || 401)), { reply });
    }
    return response.json();
  }

  return {
    headers,
    submitUrl: (assignment) => of(addresses.submitUrl, assignment),
    shownUrl: (assignment) => of(addresses.shownUrl, assignment),
    skipUrl: (assignment) => of(addresses.skipUrl, assignment),
    item: (assignment) => getJson(of(addresses.itemUrl, assignment)),
    answered: (before) => getJson(`${addresses.answeredUrl}${before ? `?before=${before}` : ""}`),
    /** Whether it answers requests that have nothing to do with what is sent. */
    isServing: () => getJson(addresses.answeredUrl).then(() => true, (error) => Number(error.message) < 500),
    /** `after` is on the screen, and the page has `holds` ready; `more` has those after the first, at most `most` in all. */
    next: (after, holds, most = 1) => getJson(`${addresses.nextUrl}?${new URLSearchParams([["ahead", 1], ...(most > 1 ? [["most", most]] : []), ...(after ? [["after", after]] : []), ...holds.map((one) => ["holds", one])])}`),
    /** What is suggested about what is asked after `answers`; throws where that is not here in time. */
    async suggestions(assignment, answers, wait) {
      const stop = new AbortController();
      const limit = setTimeout(() => stop.abort(), wait);
      const all = { "Content-Type": "application/json", ...headers() };
      try {
        return await getJson(of(addresses.suggestionsUrl, assignment), { method: "POST", body: JSON.stringify({ answers }), headers: all, signal: stop.signal });
      } finally {
        clearTimeout(limit);
      }
    },
    shown(assignment, body) {
      const all = { "Content-Type": "application/json", ...headers() };
      const sent = fetch(of(addresses.shownUrl, assignment), { method: "POST", keepalive: true, body: JSON.stringify(body), headers: all });
      sent.catch(() => {}); // the answer carries the time as well
    },
    release(assignment) {
      const form = new FormData();
      form.append("csrfmiddlewaretoken", token());
      navigator.sendBeacon?.(of(addresses.releaseUrl, assignment), form);
    },
  };
}
