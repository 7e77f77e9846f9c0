// What this browser keeps and how it reaches the server: answers on their way, and drafts.
// Everything lies in localStorage under a key of its own, so that tabs never overwrite each other; one tab at a time
// sends, oldest first, until the server has answered.

const RETRY_MS = [1000, 2000, 4000, 8000, 15000, 30000, 60000];
const ADOPT_AFTER_MS = 15000; // another tab's answer is sent by this one when it has waited this long
const TIMEOUT_MS = 30000;
const KEPT_DAYS = 30;
const SETTLED_LENGTH = 50;
const TRIES = 3; // how often the server may fail on one answer before it is set aside and the others are sent
// Sent and tried again like answers, without a word to the person: what they have acknowledged, in its place among the
// answers, and what their browser painted, after them, since answers say that themselves.
const NOTES = ["acknowledge", "painted"];

export function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID(); // only on https and localhost
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** A small store of JSON values; what the browser refuses to keep stays in memory and `isSafe` turns false. */
export function createStore(prefix) {
  const memory = new Map();
  const keys = () => {
    const found = new Set(memory.keys());
    try {
      for (let i = 0; i < localStorage.length; i += 1) {
        const key = localStorage.key(i);
        if (key.startsWith(prefix)) found.add(key.slice(prefix.length));
      }
    } catch {
      /* storage is forbidden: memory is all there is */
    }
    return [...found];
  };
  return {
    prefix,
    keys,
    get(key) {
      if (memory.has(key)) return memory.get(key);
      try {
        return JSON.parse(localStorage.getItem(prefix + key));
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        localStorage.setItem(prefix + key, JSON.stringify(value));
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    remove(key) {
      memory.delete(key);
      try {
        localStorage.removeItem(prefix + key);
      } catch {
        /* nothing was there */
      }
    },
    isSafe: () => memory.size === 0,
  };
}

/** The same after a reload, so that a tab goes on with what it left waiting. */
function tabName() {
  try {
    sessionStorage["assay:tab"] ??= uuid();
    return sessionStorage["assay:tab"];
  } catch {
    return uuid();
  }
}

/** What lies under a prefix, one key each; what is a month old is forgotten. */
function createAging(prefix) {
  const store = createStore(prefix);
  const oldest = Date.now() - KEPT_DAYS * 86400000;
  for (const key of store.keys()) if ((store.get(key)?.saved ?? 0) < oldest) store.remove(key);
  return { ...store, set: (key, value) => store.set(key, { ...value, saved: Date.now() }) };
}

/** Drafts by assignment. */
export const createDrafts = (space) => createAging(`assay:draft:${space}:`);

/** The assignments that this browser answered or skipped last, a list for each tab, so that none overwrites another's:
 * a page that the server made just before may still offer one of them. */
function createSettled(space, tab) {
  const store = createAging(`assay:settled:${space}:`);
  const of = (name) => store.get(name)?.assignments ?? [];
  return {
    add: (assignment) => store.set(tab, { assignments: [...of(tab), assignment].slice(-SETTLED_LENGTH) }),
    has: (assignment) => store.keys().some((name) => of(name).includes(assignment)),
  };
}

/** The server's addresses from the page, and the requests that no answer depends on. */
export function createServer(addresses) {
  const of = (template, assignment) => template.replace("__assignment__", encodeURIComponent(assignment));
  const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? addresses.csrf;

  // Somebody else may have signed in since, in another tab: nothing may be stored as theirs.
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
    next: (after) => getJson(`${addresses.nextUrl}?ahead=1${after ? `&after=${after}` : ""}`),
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
      sent.catch(() => {}); // the submit carries the time as well
    },
    release(assignment) {
      const form = new FormData();
      form.append("csrfmiddlewaretoken", token());
      navigator.sendBeacon?.(of(addresses.releaseUrl, assignment), form);
    },
  };
}

/**
 * The queue. `on` has answered(entry, reply), refused(entry, message, reply), wasSetAside(entry) and state({waiting, isFailing,
 * refused, aside, isSignedOut, signedIn, isSafe}), where `aside` is a list of answers about one item each; it knows the `newest()`
 * assignment that the page was given: the server is told to give another one; and asks whether the server
 * `isServing()` other requests.
 * `headers()` say who sends. An entry is {id, kind, assignment, url, body, revision, tab, created, tries, due, failures,
 * isAside, refusal}.
 */
export function createOutbox(space, headers, on) {
  const store = createStore(`assay:outbox:${space}:`);
  const tab = tabName();
  const settled = createSettled(space, tab);
  let isSignedOut = false;
  let signedIn = ""; // another person, since this page was loaded
  let isPumping = false;
  let isWanted = false; // somebody pressed a button, or signed in, while a vain attempt was still under way
  let timer = 0;

  const entries = () => store.keys().map((key) => store.get(key)).filter(Boolean).sort((a, b) => (a.kind === "painted") - (b.kind === "painted") || a.created - b.created);
  const mine = (entry) => entry.tab === tab || Date.now() - Math.max(entry.created, entry.due) > ADOPT_AFTER_MS;

  /** What is said about one item goes in its order, whichever tab said it: a later answer never overtakes. */
  const before = (entry, all) => (NOTES.includes(entry.kind) ? [] : all.filter((other) => other.assignment === entry.assignment
    && !NOTES.includes(other.kind) && !other.refusal && other.created < entry.created));
  const isHeld = (entry, all) => entry.isAside || before(entry, all).some((other) => other.isAside);
  /** What may be sent, in its order. */
  function sendable() {
    const all = entries();
    return all.filter((entry) => !entry.refusal && !entry.isAside && !before(entry, all).length);
  }

  const answers = () => entries().filter((entry) => !NOTES.includes(entry.kind));
  const ordered = () => entries().filter((entry) => entry.kind !== "painted");
  const notes = (kind) => entries().filter((entry) => entry.kind === kind);
  const has = (assignment) => answers().some((entry) => entry.assignment === assignment && !entry.refusal);

  function report() {
    const all = answers();
    const refused = all.filter((entry) => entry.refusal);
    const waiting = all.filter((entry) => !entry.refusal && !isHeld(entry, all));
    const isFailing = waiting.length > 0 && ordered().some((entry) => !entry.refusal && !isHeld(entry, all) && entry.tries > 0);
    const held = all.filter((entry) => !entry.refusal && isHeld(entry, all));
    const aside = [...new Set(held.map((entry) => entry.assignment))].map((assignment) => held.filter((entry) => entry.assignment === assignment));
    on.state({ waiting: waiting.length, isFailing, refused, aside, isSignedOut, signedIn, isSafe: store.isSafe() });
  }

  /** One tab at a time, where the browser can say so; elsewhere a lock with an end, and the server knows client ids. */
  async function alone(work) {
    const name = `assay:send:${space}`;
    if (navigator.locks) return navigator.locks.request(name, work);
    const lock = createStore(name);
    const held = lock.get("");
    if (held && held.tab !== tab && held.until > Date.now()) return schedule(1000);
    lock.set("", { tab, until: Date.now() + TIMEOUT_MS + 5000 });
    try {
      return await work();
    } finally {
      lock.remove("");
    }
  }

  async function post(entry) {
    const body = JSON.stringify(entry.body.want_next ? { ...entry.body, after: on.newest() } : entry.body);
    const stop = new AbortController();
    const limit = setTimeout(() => stop.abort(), TIMEOUT_MS);
    try {
      const response = await fetch(entry.url, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers() },
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

  /** Sends one entry; true when the next may follow. */
  async function send(id) {
    const entry = store.get(id);
    if (!entry || entry.refusal) return true; // another tab was faster
    const { status, reply, wait } = await post(entry);
    isSignedOut = status === 401 || (status === 403 && reply?.status !== "forbidden");
    signedIn = reply?.signed_in ?? "";
    if (status >= 200 && status < 300 && reply) {
      store.remove(id);
      if (!NOTES.includes(entry.kind)) on.answered(entry, reply);
      return true;
    }
    const isForbidden = status === 403 && reply?.status === "forbidden"; // a plain 403 is a lost session or token
    const isFinal = isForbidden || (status >= 400 && status < 500 && ![401, 403, 408, 425, 429].includes(status));
    if (isFinal && NOTES.includes(entry.kind)) {
      store.remove(id); // nobody could do anything about it
      return true;
    }
    if (isFinal) {
      const details = reply?.errors?.map((error) => error.message).filter(Boolean).join(" ");
      const message = details || reply?.message || reply?.detail || `The server rejected it (${status}).`;
      const kept = { ...entry, refusal: { status, message, errors: reply?.errors } };
      store.set(id, kept);
      on.refused(kept, message, reply);
      return true;
    }
    // A server that is away or restarts fails on everything; only what fails while the rest works is the answer's own.
    const isOwn = status === 500 || (status > 500 && (await on.isServing()));
    const failures = (entry.failures ?? 0) + (isOwn ? 1 : 0);
    if (failures >= TRIES) {
      store.set(id, { ...entry, failures: 0, tries: 0, due: 0, isAside: true });
      if (!NOTES.includes(entry.kind)) on.wasSetAside(entry);
      return true;
    }
    const delay = wait > 0 ? wait * 1000 : RETRY_MS[Math.min(entry.tries, RETRY_MS.length - 1)] * (0.8 + Math.random() * 0.4);
    store.set(id, { ...entry, failures, tries: entry.tries + 1, due: Date.now() + delay });
    schedule(delay);
    return false;
  }

  function schedule(delay) {
    clearTimeout(timer);
    timer = setTimeout(() => pump(), delay + 20);
  }

  /** Sends what is due. `isUrgent` ignores the waiting times: the network came back, or somebody pressed a button. */
  async function pump(isUrgent = false) {
    if (isPumping) {
      isWanted ||= isUrgent;
      return;
    }
    isPumping = true;
    try {
      await alone(async () => {
        for (;;) {
          const next = sendable().find((entry) => isUrgent || mine(entry));
          if (!next || (!isUrgent && next.due > Date.now()) || !(await send(next.id))) break;
        }
      });
    } finally {
      isPumping = false;
      report();
    }
    if (isWanted) {
      isWanted = false;
      return pump(true);
    }
    const left = sendable();
    if (left.length) {
      const soonest = Math.min(...left.map((entry) => (entry.tab === tab ? entry.due - Date.now() : ADOPT_AFTER_MS)));
      schedule(Math.max(200, soonest));
    }
  }

  window.addEventListener("online", () => pump(true));
  window.addEventListener("storage", (event) => {
    if (!event.key?.startsWith(store.prefix)) return;
    report();
    if (!event.newValue) pump(); // what another tab had before ours is done
  });
  document.addEventListener("visibilitychange", () => document.hidden || pump(isSignedOut));
  window.addEventListener("beforeunload", (event) => store.isSafe() || event.preventDefault());

  // Not found may have meant: somebody else was signed in; and who was let in again may send what was refused meanwhile.
  for (const entry of entries()) if ([403, 404].includes(entry.refusal?.status)) store.set(entry.id, { ...entry, refusal: null, due: 0 });

  function keep(kind, assignment, url, body, revision) {
    const id = body.client_id;
    store.set(id, { id, kind, assignment, url, body, revision, tab, created: Date.now(), tries: 0, due: 0, refusal: null });
    report();
    pump();
    return id;
  }

  return {
    /** `isLeaving`: the page is about to end, and what it begins to send now may arrive all the same. `revision`: which
     * of the person's answers to the item this is, as far as the page knows. */
    add(kind, assignment, url, body, { isLeaving = false, revision } = {}) {
      const isFirst = !entries().some((entry) => !entry.refusal);
      settled.add(assignment);
      const id = keep(kind, assignment, url, body, revision);
      if (isLeaving && isFirst) post(store.get(id)); // it stays in the store: sent twice, it is stored once
    },
    /** The answers that are not stored yet, oldest first. */
    waiting: () => entries().filter((entry) => entry.kind === "submit" && !entry.refusal),
    acknowledge: (url, version) => keep("acknowledge", null, url, { client_id: uuid(), version, at: new Date().toISOString() }),
    painted: (assignment, url, at) => keep("painted", assignment, url, { client_id: uuid(), at, suggestions: true }),
    /** When a suggestion was painted on an item, if the server may not know that yet. */
    paintedAt: (assignment) => notes("painted").find((entry) => entry.assignment === assignment)?.body.at ?? null,
    /** The newest version of the guidelines that was acknowledged here and not sent yet. */
    acknowledged: () => Math.max(0, ...notes("acknowledge").map((entry) => entry.body.version)),
    /** Whether an answer of this tab is under way for the first time, which usually brings the next item back. One
     * that failed holds up those behind it. */
    isBusy() {
      const all = ordered();
      const waiting = all.filter((entry) => !entry.refusal && !isHeld(entry, all) && mine(entry));
      return waiting.some((entry) => entry.tab === tab && !NOTES.includes(entry.kind)) && waiting.every((entry) => entry.tries === 0);
    },
    isWaiting() {
      const all = answers();
      return all.some((entry) => entry.tab === tab && !entry.refusal && !isHeld(entry, all));
    },
    /** The assignment of an answer that is set aside, or nothing. */
    aside: () => answers().find((entry) => entry.isAside)?.assignment,
    /** Sends what is set aside about one item. */
    again(assignment) {
      for (const entry of answers()) if (entry.isAside && entry.assignment === assignment) store.set(entry.id, { ...entry, isAside: false, tab });
      report();
      pump(true);
    },
    has,
    /** Whether this browser answered or skipped it: that is on its way or stored, unless the server refused it. */
    isSettled: (assignment) => has(assignment) || (settled.has(assignment) && !answers().some((entry) => entry.assignment === assignment)),
    discard(id) {
      store.remove(id);
      report();
      pump(); // what waited behind it
    },
    retry: () => pump(true),
    start() {
      for (const entry of entries()) if (entry.refusal) on.refused(entry, entry.refusal.message); // it waits for the person's decision
      for (const entry of entries()) if (entry.isAside && NOTES.includes(entry.kind)) store.set(entry.id, { ...entry, isAside: false });
      report();
      pump(true);
    },
  };
}
