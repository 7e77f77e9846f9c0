// What stays around the item: words to the person, messages, where the answers are, and progress.

import { formatNumber, gettext, ngettext } from "../words.js";

export const one = (selector, root = document) => root.querySelector(selector);

/** The nodes of HTML that came from the server. */
export function nodesOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return document.importNode(template.content, true);
}

// ---- words ----

export function announce(text) {
  one("[data-announce]").textContent = text;
}

const READ = 200; // characters of a text that are read out

/** Gives the item its number as its name, among all that the person has answered or may get (`total`), where that is
 * known. Returns that and how its first text begins, to be announced. */
export function introduce({ node, texts }, number, total = 0) {
  const name = total >= number ? gettext("Item {number} of {total}", { number, total }) : gettext("Item {number}", { number });
  node.setAttribute("aria-label", name);
  const [first] = texts.values();
  return first ? `${name}. ${first.title}: ${first.text.slice(0, READ).trim()}` : name;
}

export const STAYS = Symbol("the message stays");

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
export function showSignedOut(signedIn, what, { loginUrl }, retry) {
  const text = signedIn
    ? gettext("{person} is signed in with this browser now, not you. {what} To go on, sign out there and sign in as yourself.", { person: signedIn, what })
    : gettext("You are signed out. {what}", { what });
  if (one('[data-notice="signed-out"] p')?.textContent === text) return;
  const [title, url] = signedIn ? [gettext("Go and sign out"), "/"] : [gettext("Sign in"), loginUrl || "/"];
  const open = () => {
    window.open(url, "_blank", "noopener");
    return STAYS;
  };
  notice("signed-out", "error", text, [[title, open], [gettext("Try again"), retry]]);
}

/** Where the answers are, from the outbox's state. `addresses` are the page's, `retry()` sends what waits. */
export function showSaveState({ waiting, isFailing, refused, aside, isSignedOut, signedIn, isSafe, hasUnsent }, addresses, retry) {
  const isBlocked = isSignedOut && waiting > 0;
  const [state, text] = isBlocked ? ["blocked", signedIn ? gettext("Another person is signed in: {n} kept here", { n: waiting }) : gettext("Signed out: {n} kept here", { n: waiting })]
    : refused.length ? ["blocked", gettext("{n} not accepted", { n: refused.length })]
    : aside.length ? ["blocked", gettext("{n} set aside", { n: aside.flat().length })]
    : isFailing ? ["waiting", gettext("{n} waiting to be sent", { n: waiting })]
    : hasUnsent ? ["waiting", gettext("Change not sent")]
    : waiting ? ["saving", waiting > 1 ? gettext("Saving {n}", { n: waiting }) : gettext("Saving")]
    : ["saved", gettext("Saved")];
  one("[data-save-state]").dataset.saveState = state;
  const words = one("[data-save-text]");
  if (words.textContent !== text) words.textContent = text;
  const unsafe = isSafe ? "" : gettext("This browser stores no data: leave this page open until everything is saved.");
  const here = gettext("Nothing is lost: it stays in this browser and is sent once you are signed in again.");
  if (isBlocked) showSignedOut(signedIn, `${ngettext("One answer is not sent yet.", "{n} answers are not sent yet.", waiting)} ${here}`, addresses, retry);
  else notice("signed-out");
  if (one('[data-notice="unsafe"] p')?.textContent !== unsafe) notice("unsafe", "error", unsafe);
}

/** One message for each item whose answers are set aside. `ways` has again(assignment), copy(answers, button) and discard(answers). */
export function showAside(aside, ways) {
  const names = aside.map(([first]) => `aside:${first.assignment}`);
  for (const box of document.querySelectorAll('[data-notice^="aside:"]')) if (!names.includes(box.dataset.notice)) box.remove();
  aside.forEach((answers, index) => {
    const [{ assignment, kind }, ...later] = answers;
    const more = later.length ? ` ${gettext("Your later changes to the same item wait with it ({n}).", { n: later.length })}` : "";
    const failed = kind === "skip"
      ? gettext("The server failed three times on a skip of yours. It is set aside and kept in this browser; everything else is sent.")
      : gettext("The server failed three times on an answer of yours. It is set aside and kept in this browser; everything else is sent.");
    const text = failed + more;
    if (one(`[data-notice="${CSS.escape(names[index])}"] p`)?.textContent === text) return;
    notice(names[index], "error", text, [
      [gettext("Try again"), () => ways.again(assignment)],
      [gettext("Copy it"), (button) => {
        ways.copy(answers, button);
        return STAYS;
      }],
      [gettext("Discard it"), () => ways.discard(answers)],
    ]);
  });
}

/** To the clipboard, or where the browser allows no page to, into a dialog from which it can be copied by hand. */
export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = gettext("Copied");
    announce(gettext("Copied"));
  } catch {
    one("[data-copied]").value = text;
    one('dialog[data-dialog="copy"]').showModal();
    one("[data-copied]").select();
  }
}

export function showProgress(progress) {
  if (!progress) return;
  const put = (selector, value) => (one(selector).textContent = formatNumber(value ?? 0));
  put("[data-mine]", progress.mine);
  put("[data-open]", progress.mine_total_open);
  put("[data-team]", progress.team_done);
  put("[data-team-total]", progress.team_total);
  Object.assign(one("[data-own-bar]"), { max: Math.max(1, progress.mine + progress.mine_total_open), value: progress.mine });
  Object.assign(one("[data-team-bar]"), { max: Math.max(1, progress.team_total), value: progress.team_done });
}

/** Building the item after this one must not delay the one that was just asked for. */
export const afterPaint = (work) => (document.hidden ? setTimeout(work, 0) : requestAnimationFrame(() => setTimeout(work, 0)));
