// What this browser keeps: answers on their way, and drafts. Everything lies in localStorage under a key of its own, so
// that tabs never overwrite each other.

const KEPT_DAYS = 30;
const REMEMBERED = 100;

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
export function tabName() {
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
export function createAnswered(space, tab) {
  const store = createAging(`assay:settled:${space}:`);
  const of = (name) => store.get(name)?.assignments ?? [];
  return {
    add: (assignment) => store.set(tab, { assignments: [...of(tab), assignment].slice(-REMEMBERED) }),
    has: (assignment) => store.keys().some((name) => of(name).includes(assignment)),
  };
}
