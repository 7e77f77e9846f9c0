// The keyboard: one listener, one table. Keys are off while somebody types, in dialogs, and when they were switched off.

const TYPING = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable=""], [contenteditable="true"]';
const OWN_ENTER = "button, a[href], summary";

/** The key as printed on a Latin keyboard, so that shortcuts work on every layout. */
export function nameOf(event) {
  if (/^(Digit|Numpad)[0-9]$/.test(event.code) && !event.shiftKey && !/^[a-z]$/i.test(event.key)) return event.code.at(-1);
  if (event.key === "?") return "?";
  if (/^[\x21-\x7e]$/.test(event.key)) return event.key.toLowerCase();
  if (/^Key[A-Z]$/.test(event.code) && event.key.length === 1) return event.code.at(-1).toLowerCase();
  return event.key;
}

/**
 * `actions` maps names to functions: digit(n), submit, up, down, back, forward, help, skip, flag, guidelines, comment, accept,
 * undo, highlight. `first(event)` sees every key before the table does (the caret); `isOn()` tells whether single keys act.
 */
export function listen(actions, { first, isOn }) {
  const table = {
    Enter: "submit", ArrowUp: "up", ArrowDown: "down", ArrowLeft: "back", ArrowRight: "forward", "?": "help", s: "skip",
    f: "flag", g: "guidelines", c: "comment", a: "accept", z: "undo", h: "highlight",
  };
  const held = new Set(["submit", "skip", "flag"]); // not again and again while the key is held down

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : document.body;
    const isTyping = target.matches(TYPING);
    const isCommand = event.ctrlKey || event.metaKey;
    const done = () => event.preventDefault();

    if (isCommand && event.key === "Enter") return done(), event.repeat || actions.submit();
    if (isTyping) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (first(event)) return done();
    if (isCommand && !event.shiftKey && !event.altKey && nameOf(event) === "z") return done(), actions.undo();
    if (isCommand || event.altKey || !isOn()) return;

    const key = nameOf(event);
    if (/^[0-9]$/.test(key)) return done(), event.repeat || actions.digit(key);
    const action = table[key];
    if (!action) return;
    // Somebody who walked into a group with Tab chooses with the arrows, as in any form.
    if (key.startsWith("Arrow") && (event.shiftKey || target.matches('input[type="radio"]') || target.closest("[data-own-arrows]"))) return;
    if (key === "Enter" && target.matches(OWN_ENTER) && !target.matches('[type="submit"]')) return;
    done();
    if (!(event.repeat && held.has(action))) actions[action]();
  });
}
