// What stays around the item: words to the person, progress, dialogs, buttons and the keyboard.
// `actions` maps names to functions; the same names stand in data-do and in the table of keys.

export const one = (selector, root = document) => root.querySelector(selector);

// ---- words ----

export function announce(text) {
  one("[data-announce]").textContent = text;
}

export const STAYS = Symbol("the message stays");

/** A message above the item under a name of its own; an empty text takes it away. `buttons` are [title, act] pairs: the
 * message goes when one is pressed, unless `act(button)` says STAYS. */
export function notice(id, kind, text, buttons = []) {
  one(`[data-notice="${CSS.escape(id)}"]`)?.remove();
  if (!text) return;
  const box = Object.assign(document.createElement("div"), { className: `message ${kind}` });
  box.dataset.notice = id;
  box.setAttribute("role", kind === "error" ? "alert" : "status");
  box.append(Object.assign(document.createElement("p"), { textContent: text }));
  for (const [title, act] of buttons) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: title });
    button.addEventListener("click", () => act(button) === STAYS || box.remove());
    box.append(button);
  }
  one("[data-notices]").append(box);
}

/** Where the answers are, from the outbox's state. `ways` has signIn() and retry(). */
export function showSaveState({ waiting, isFailing, refused, aside, isSignedOut, isSafe, hasUnsent }, ways) {
  const isBlocked = isSignedOut && waiting > 0;
  const [state, text] = isBlocked ? ["blocked", `Signed out: ${waiting} kept here`]
    : refused.length ? ["blocked", `${refused.length} not accepted`]
    : aside.length ? ["blocked", `${aside.flat().length} set aside`]
    : isFailing ? ["waiting", `${waiting} waiting to be sent`]
    : hasUnsent ? ["waiting", "Change not sent"]
    : waiting ? ["saving", waiting > 1 ? `Saving ${waiting}` : "Saving"]
    : ["saved", "Saved"];
  one("[data-save-state]").dataset.saveState = state;
  const words = one("[data-save-text]");
  if (words.textContent !== text) words.textContent = text;
  const count = waiting === 1 ? "One answer is" : `${waiting} answers are`;
  const here = "Nothing is lost: it stays in this browser and is sent once you are signed in again.";
  const signedOut = isBlocked ? `You are signed out. ${count} not sent yet. ${here}` : "";
  const unsafe = isSafe ? "" : "This browser stores no data: leave this page open until everything is saved.";
  if (one('[data-notice="signed-out"] p')?.textContent !== signedOut) {
    notice("signed-out", "error", signedOut, [["Sign in", ways.signIn], ["Try again", ways.retry]]);
  }
  if (one('[data-notice="unsafe"] p')?.textContent !== unsafe) notice("unsafe", "error", unsafe);
}

/** One message for each item whose answers are set aside. `ways` has again(assignment), copy(answers, button) and discard(answers). */
export function showAside(aside, ways) {
  const names = aside.map(([first]) => `aside:${first.assignment}`);
  for (const box of document.querySelectorAll('[data-notice^="aside:"]')) if (!names.includes(box.dataset.notice)) box.remove();
  aside.forEach((answers, index) => {
    const [{ assignment, kind }, ...later] = answers;
    const what = kind === "skip" ? "a skip" : "an answer";
    const more = later.length ? ` Your later changes to the same item wait with it (${later.length}).` : "";
    const text = `The server failed three times on ${what} of yours. It is set aside and kept in this browser; everything else is sent.${more}`;
    if (one(`[data-notice="${CSS.escape(names[index])}"] p`)?.textContent === text) return;
    notice(names[index], "error", text, [
      ["Try again", () => ways.again(assignment)],
      ["Copy it", (button) => {
        ways.copy(answers, button);
        return STAYS;
      }],
      ["Discard it", () => ways.discard(answers)],
    ]);
  });
}

/** To the clipboard, or where the browser allows no page to, into a dialog from which it can be copied by hand. */
export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied");
  } catch {
    one("[data-copied]").value = text;
    openDialog("copy");
    one("[data-copied]").select();
  }
}

const numbers = new Intl.NumberFormat("en");

export function showProgress(progress) {
  if (!progress) return;
  const put = (selector, value) => (one(selector).textContent = numbers.format(value ?? 0));
  put("[data-mine]", progress.mine);
  put("[data-open]", progress.mine_total_open);
  put("[data-team]", progress.team_done);
  put("[data-team-total]", progress.team_total);
  Object.assign(one("[data-own-bar]"), { max: Math.max(1, progress.mine + progress.mine_total_open), value: progress.mine });
  Object.assign(one("[data-team-bar]"), { max: Math.max(1, progress.team_total), value: progress.team_done });
}

// ---- dialogs ----

export const openDialog = (name) => one(`dialog[data-dialog="${name}"]`)?.showModal();

let withReason = null;

/** Asks why an item is skipped or flagged; `then(reason)` is called when the person goes through with it. */
export function askReason(isFlagged, then) {
  withReason = then;
  one("[data-skip-title]").textContent = isFlagged ? "Flag this item for the researcher" : "Skip this item";
  one("[data-skip-confirm]").textContent = isFlagged ? "Flag and go on" : "Skip";
  one("[data-skip-note]").textContent = isFlagged ? "The researcher sees your words; the item goes to somebody else." : "You will not see this item again.";
  one("[data-skip-form]").reset();
  openDialog("skip");
  one("[data-skip-reason]").focus();
}

let aboutUnsent = null;

/** A changed answer is not complete, and somebody wants to leave it. `ways` has keep() and discard(). */
export function askUnsent(missing, ways) {
  aboutUnsent = ways;
  one("[data-unsent-missing]").textContent = missing;
  openDialog("unsent");
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
    } else if (event.target.matches("[data-skip-form]")) {
      const chosen = new FormData(event.target).get("reason");
      withReason([chosen, one("[data-skip-reason]").value.trim()].filter(Boolean).join(": "));
    } else if (event.target.matches("[data-unsent-form]")) {
      event.preventDefault();
      event.target.closest("dialog").close();
      aboutUnsent[event.submitter.value]();
    }
  });
}

// ---- the keyboard: off while somebody types, in dialogs, and when it was switched off ----

const TYPING = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable=""], [contenteditable="true"]';
const OWN_ENTER = "button, a[href], summary";
const KEYS = {
  Enter: "submit", ArrowUp: "up", ArrowDown: "down", ArrowLeft: "back", ArrowRight: "forward", "?": "help", s: "skip",
  f: "flag", g: "guidelines", c: "comment", a: "accept", z: "undo", h: "highlight", t: "words", p: "whole", o: "only",
};
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
 * `first(event)` sees every key before all others (the caret), `own(event, name)` what is left for the task's own keys;
 * `isOn()` tells whether single keys act.
 */
export function listenToKeys(actions, { first, own, isOn }) {
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
    if (first(event)) return done();
    if (isCommand && !event.shiftKey && !event.altKey && nameOf(event) === "z") return done(), actions.undo();
    if (isCommand || event.altKey || !isOn()) return;

    const key = nameOf(event);
    if (own(event, key)) return done();
    const action = KEYS[key];
    if (!action) return;
    // Somebody who walked into a group with Tab chooses with the arrows, as in any form.
    if (key.startsWith("Arrow") && (event.shiftKey || target.matches('input[type="radio"]') || target.closest("[data-own-arrows]"))) return;
    if (key === "Enter" && target.matches(OWN_ENTER) && !target.matches('[type="submit"]')) return;
    done();
    if (!(event.repeat && ONCE.has(action))) actions[action]();
  });
}

/** Building the item after this one must not delay the one that was just asked for. */
export const afterPaint = (work) => (document.hidden ? setTimeout(work, 0) : requestAnimationFrame(() => setTimeout(work, 0)));
