// What stays around the item: words to the person, progress, buttons and the keyboard.
// `actions` maps names to functions; the same names stand in data-do and in the table of keys.

export const one = (selector, root = document) => root.querySelector(selector);

// ---- words ----

export function announce(text) {
  one("[data-announce]").textContent = text;
}

const READ = 200; // characters of a text that are read out

/** Gives the item its number as its name. Returns that and how its first text begins, to be announced. */
export function introduce({ node, texts }, number) {
  node.setAttribute("aria-label", `Item ${number}`);
  const [first] = texts.values();
  return first ? `Item ${number}. ${first.title}: ${first.text.slice(0, READ).trim()}` : `Item ${number}`;
}

const STAYS = Symbol("the message stays");

/** A message above the item under a name of its own; an empty text takes it away. `buttons` are [title, act] pairs: the
 * message goes when one is pressed, unless `act(button)` says STAYS; an address in place of `act` makes a link. */
export function notice(id, kind, text, buttons = []) {
  one(`[data-notice="${CSS.escape(id)}"]`)?.remove();
  if (!text) return;
  const box = Object.assign(document.createElement("div"), { className: `message ${kind}` });
  box.dataset.notice = id;
  box.setAttribute("role", kind === "error" ? "alert" : "status");
  box.append(Object.assign(document.createElement("p"), { textContent: text }));
  for (const [title, act] of buttons) {
    if (typeof act === "string") {
      box.append(Object.assign(document.createElement("a"), { href: act, textContent: title }));
      continue;
    }
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: title });
    button.addEventListener("click", () => act(button) === STAYS || box.remove());
    box.append(button);
  }
  one("[data-notices]").append(box);
}

/** The server does not take what this person sends; `what` says what becomes of it. `signedIn` is another person who is
 * signed in now, or empty. */
export function tellSignedOut(signedIn, what, { loginUrl }, retry) {
  const text = signedIn
    ? `${signedIn} is signed in with this browser now, not you. ${what} To go on, sign out there and sign in as yourself.`
    : `You are signed out. ${what}`;
  if (one('[data-notice="signed-out"] p')?.textContent === text) return;
  const [title, url] = signedIn ? ["Go and sign out", "/"] : ["Sign in", loginUrl || "/"];
  const open = () => {
    window.open(url, "_blank", "noopener");
    return STAYS;
  };
  notice("signed-out", "error", text, [[title, open], ["Try again", retry]]);
}

/** Where the answers are, from the outbox's state. `addresses` are the page's, `retry()` sends what waits. */
export function showSaveState({ waiting, isFailing, refused, aside, isSignedOut, signedIn, isSafe, hasUnsent }, addresses, retry) {
  const isBlocked = isSignedOut && waiting > 0;
  const [state, text] = isBlocked ? ["blocked", `${signedIn ? "Another person is signed in" : "Signed out"}: ${waiting} kept here`]
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
  const unsafe = isSafe ? "" : "This browser stores no data: leave this page open until everything is saved.";
  const here = "Nothing is lost: it stays in this browser and is sent once you are signed in again.";
  if (isBlocked) tellSignedOut(signedIn, `${count} not sent yet. ${here}`, addresses, retry);
  else notice("signed-out");
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
    one('dialog[data-dialog="copy"]').showModal();
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

// ---- the keyboard: off while somebody types, in dialogs, and when it was switched off ----

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
  const keys = JSON.parse(document.getElementById("keys").textContent);
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
    if (isCommand || event.altKey || !isOn()) return;

    const key = nameOf(event);
    if (own(event, key)) return done();
    const action = keys[key];
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
