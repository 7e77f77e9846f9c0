// Buttons and keys, each with an action of the page.
// `actions` maps names to functions; the same names stand in data-do and in the table of keys.

import { afterPaint, one } from "./shell.js";

// Actions by key, and the keys that the person has in place of those that the page's HTML prints.
const { actions: keys, changed } = JSON.parse(document.getElementById("keys").textContent);

/** The key of an action, for messages. */
export const keyOf = (action) => Object.keys(keys).find((key) => keys[key] === action) ?? "";

/** Prints the person's own keys on buttons and in texts. */
export function printKeys(root) {
  if (!Object.keys(changed).length) return;
  for (const key of root.querySelectorAll("kbd")) if (!key.closest(".key-list")) key.textContent = changed[key.textContent] ?? key.textContent;
  for (const control of root.querySelectorAll("[aria-keyshortcuts]")) {
    const usual = control.getAttribute("aria-keyshortcuts");
    if (changed[usual]) control.setAttribute("aria-keyshortcuts", changed[usual]);
    if (control.title) control.title = control.title.replace(/\((.)\)$/, (whole, key) => `(${changed[key] ?? key})`);
  }
}

// ---- buttons ----

export function listenToButtons(actions) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do], [data-close], [data-dismiss]");
    if (!button) return;
    if ("close" in button.dataset) button.closest("dialog").close();
    else if ("dismiss" in button.dataset) button.closest(".message").remove();
    else if (button.type !== "submit") actions[button.dataset.do](button);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-panel]")) {
      event.preventDefault();
      actions.submit();
    }
  });
}

// ---- the keyboard: off during typing, in dialogs, and when it was switched off ----

const TYPING = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable=""], [contenteditable="true"]';
const OWN_ENTER = "button, a[href], summary";
const ONCE = new Set(["submit", "skip", "flag"]); // not again and again while the key is held down

/** The key as printed on a Latin keyboard, so that shortcuts work on every layout. */
function nameOf(event) {
  if (/^(Digit|Numpad)[0-9]$/.test(event.code) && !event.shiftKey && !/^[a-z]$/i.test(event.key)) return event.code.at(-1);
  if (event.key === "?") return "?";
  if (/^[\x21-\x7e]$/.test(event.key)) return event.key.toLowerCase();
  if (/^Key[A-Z]$/.test(event.code) && event.key.length === 1) return event.code.at(-1).toLowerCase();
  return event.key;
}

/**
 * `keeps(event)` takes the keys that have to wait, `first(event)` sees every other before all others (the caret),
 * `own(event, name)` what is left for the task's own keys; `isOn()` tells whether single keys act. The page's keys and
 * what they do stand in it (annotation/task_types/keys.py).
 */
export function listenToKeys(actions, { keeps, first, own, isOn }) {
  printKeys(document);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || one("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : document.body;
    const isCommand = event.ctrlKey || event.metaKey;
    const done = () => event.preventDefault();

    if (isCommand && event.key === "Enter") return done(), event.repeat || actions.submit();
    if (target.matches(TYPING)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (isOn() && keeps(event)) return done();
    if (first(event)) return done();
    if (isCommand && !event.shiftKey && !event.altKey && nameOf(event) === "z") return done(), actions.undo();
    if (isCommand && !event.altKey && nameOf(event) === (event.shiftKey ? "z" : "y")) return done(), actions.redo();
    if (isCommand || event.altKey || !isOn()) return;

    const key = nameOf(event);
    if (own(event, key)) return done();
    const action = keys[key];
    if (!action) return;
    // After Tab into a group the arrows choose, as in any form.
    if (key.startsWith("Arrow") && (event.shiftKey || target.matches('input[type="radio"]') || target.closest("[data-own-arrows]"))) return;
    if (key === "Enter" && target.matches(OWN_ENTER) && !target.matches('[type="submit"]')) return;
    done();
    if (!(event.repeat && ONCE.has(action))) actions[action]();
  });
}

// ---- keys typed ahead ----

/** Keys typed while the page waits for a reply: they are kept, and pressed once there is something that they can act on. */
export function createTypeAhead(isWaiting) {
  let kept = [];

  return {
    /** Whether the key was kept: a letter, a digit, a sign or Enter. */
    keeps({ key, code, shiftKey, ctrlKey, metaKey, altKey, repeat }) {
      if (!(isWaiting() || kept.length) || ctrlKey || metaKey || altKey) return false;
      if (key !== "Enter" && key.length !== 1) return false;
      if (!repeat) kept.push({ key, code, shiftKey });
      return true;
    },
    /** Presses them, on an item that has been painted. `isOther`: not the one on the screen when they were typed. There an
     * Enter that comes first was meant for the item before: pressed twice, it must not answer an item that was never shown. */
    press(isOther) {
      if (kept.length) afterPaint(() => {
        const keys = kept;
        kept = [];
        while (isOther && keys[0]?.key === "Enter") keys.shift();
        for (const key of keys) (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }));
      });
    },
    drop() {
      kept = [];
    },
  };
}
