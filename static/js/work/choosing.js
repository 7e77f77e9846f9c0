// Choosing labels by key, click or suggestion, and walking between the groups of whatever item is on the screen.

import { listenToSearches } from "./finding.js";
import { CANNOT_JUDGE } from "./item/questions.js";
import { keyOf } from "./keyboard.js";
import { gettext } from "../words.js";

/** The number that a digit key stands for, whatever the layout makes of it: 1 to 10, with Shift 11 to 20; or null. */
function numberOf(event) {
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1] ?? (/^[0-9]$/.test(event.key) ? event.key : undefined);
  if (digit === undefined || event.key.length > 1) return null; // a keypad without Num Lock moves
  return (Number(digit) || 10) + (event.shiftKey ? 10 : 0);
}

/**
 * `page` has showStatus(text, kind), announce(text) and refresh(); `highlighter` has mark(group): what is selected or under the
 * caret becomes a highlight of the group, if there is anything; and isActive(): the caret is in a text.
 */
export function createChooser(stage, itemNow, page, highlighter) {
  let isPointing = false; // walking through radios with the arrows makes clicks too
  let isNaming = false; // after p: the next digit names a whole text
  document.addEventListener("pointerdown", (event) => {
    isPointing = true;
    isNaming = false;
    if (stage.contains(event.target) && event.target.closest("[data-unit-row]")) itemNow()?.chose(); // also where it has the focus
  }, true);
  document.addEventListener("keydown", () => (isPointing = false), true);

  function focus(group) {
    if (!group || !itemNow()?.setCurrent(group)) return;
    itemNow().chose();
    group.box.focus({ preventScroll: true });
    reveal(group.box.closest("[data-unit-row]") ?? group.box);
  }

  const reveal = (element) => element.scrollIntoView({ block: "nearest", behavior: "instant" });
  function onwards(group) {
    focus(itemNow().neighbour(1) ?? group);
    itemNow().movedOn(group);
  }
  const current = () => (itemNow() && itemNow().stage !== "waiting" ? itemNow().current() : null);
  const walk = (direction) => () => itemNow() && focus(itemNow().neighbour(direction));

  /** Make a unit current. With something selected, or the caret in a text, that becomes its highlight. */
  function pick(unit) {
    const item = itemNow();
    const own = item.groupsOf(unit).filter(item.isAsked);
    const group = own.find((one) => item.label(one) === undefined) ?? own[0];
    if (!group || !item.setCurrent(group)) return;
    item.chose();
    if (highlighter.mark(group)) reveal(group.box.closest("[data-unit-row]") ?? group.box);
    else focus(group);
  }

  /** To what is open yet. The next highlight is for the group's unit, which was answered just now. */
  function next(group) {
    const open = itemNow().unanswered() ?? group;
    if (!highlighter.isActive()) {
      focus(open);
      return itemNow().movedOn(group);
    }
    itemNow().setCurrent(open);
    itemNow().movedOn(group);
    page.announce(open.box.closest("[data-unit-row]")?.querySelector("[id]")?.textContent.trim() ?? "");
    return reveal(open.box.closest("[data-unit-row]") ?? open.box);
  }

  /** From a text to the questions. Where digits pick units and the current one has all it needs, to the next that has not:
   *  the label keys would overturn it. */
  function comeBack() {
    const item = itemNow();
    const group = item.current();
    const isDone = item.payload.unit_picks && item.label(group) !== undefined && item.spansOf(group).length > 0;
    focus((isDone && item.unanswered()) || group);
  }

  // A click on a label answers and hands the keyboard to the next group; walking with Tab stays inside the group.
  stage.addEventListener("click", (event) => {
    const box = event.target.closest("[data-group]");
    if (!box || !isPointing || !event.target.matches('input[type="radio"]')) return;
    const group = itemNow().groupOf(box);
    if (itemNow().setCurrent(group)) setTimeout(() => onwards(group), 0); // after the change event
  });
  stage.addEventListener("focusin", (event) => {
    const box = event.target.closest("[data-group]");
    if (!box || !itemNow()) return;
    itemNow().setCurrent(itemNow().groupOf(box));
    itemNow().chose();
  });

  listenToSearches(stage, (box, value) => {
    const group = itemNow()?.groupOf(box);
    if (!group) return;
    itemNow().choose(group, value);
    if (group.dimension.answer !== "labels") onwards(group);
  });

  function nameWhole(text) {
    const { isDone, words } = itemNow().toggleWhole(text);
    page.announce(words);
    if (!isDone || itemNow().isMany) page.showStatus(words, isDone ? "" : "missing");
  }

  const actions = {
    focus, comeBack, next,
    cannotJudge() {
      const group = current();
      if (!group?.dimension.cannot_judge) return;
      itemNow().choose(group, CANNOT_JUDGE);
      if (itemNow().label(group) === CANNOT_JUDGE) onwards(group);
    },
    up: walk(-1), down: walk(1),
    /** What only this task's keys do: digits that pick labels or units, labels' own keys. True when used. */
    key(event, name) {
      const item = itemNow();
      if (!item) return false;
      const number = numberOf(event);
      if (item.payload.unit_picks) {
        if (number !== null) {
          const unit = item.payload.units[number - 1];
          if (event.repeat || !current()) return true;
          if (unit) pick(unit);
          else page.showStatus(gettext("There is no number {number}", { number }), "missing");
          return true;
        }
        return actions.label(name, event.repeat);
      }
      const words = current()?.box.querySelector("[data-text], [data-find-label]");
      if (words && name === keyOf("words")) {
        words.focus();
        return true;
      }
      const field = current()?.box.querySelector("[data-number]");
      if (field && /^[-.,0-9]$/.test(event.key)) {
        field.focus();
        field.select();
        return false; // the key writes into it
      }
      const group = current();
      const label = (group?.picks.length ? group.picks : group?.dimension.labels)?.find((candidate) => candidate.key === name);
      if (!label) return /^[0-9]$/.test(name);
      if (!event.repeat) {
        item.choose(group, label.value);
        if (group.dimension.answer !== "labels" && item.label(group) !== undefined) onwards(group); // of several there may be another
      }
      return true;
    },
    /** A label's own key answers the current unit. */
    label(name, isRepeated) {
      const group = current();
      const own = group ? [group, ...itemNow().groupsOf(group.unit)].filter(itemNow().isAsked) : [];
      for (const candidate of own) {
        const label = candidate.dimension.labels.find((one) => one.key === name);
        if (!label) continue;
        if (isRepeated) return true;
        itemNow().choose(candidate, label.value);
        next(candidate);
        return true;
      }
      return false;
    },
    /** After p; sees keys before the caret does. True when used. */
    naming(event) {
      if (!isNaming || ["Shift", "Control", "Alt", "Meta", "CapsLock"].includes(event.key)) return false;
      isNaming = false;
      const number = event.ctrlKey || event.metaKey || event.altKey ? null : numberOf(event);
      page.refresh();
      if (number === null) return event.key === "Escape";
      const text = itemNow()?.wholeTexts()[number - 1];
      if (text) nameWhole(text);
      else page.showStatus(gettext("There is no passage {number}", { number }), "missing");
      return true;
    },
    /** The key p, or the button of a text. */
    whole(button) {
      const item = itemNow();
      if (!current()) return;
      const able = item.wholeTexts();
      if (!able.length) return page.showStatus(gettext("This task has no highlights of whole passages"));
      if (button) return nameWhole(item.texts.get(button.dataset.whole));
      isNaming = true;
      const numbers = able.length > 1 ? `1–${able.length}` : "1";
      page.showStatus(gettext("Which passage? Press its number: {numbers}; Esc cancels", { numbers }));
    },
    /** The button that carries a unit's number. */
    pick: (button) => current() && pick(button.closest("[data-unit-row]").dataset.unitRow),
    only() {
      const isOnly = itemNow()?.showOnlyCurrent();
      if (isOnly !== undefined) page.announce(isOnly ? gettext("Only the highlights of the current number") : gettext("All highlights"));
    },
    /** `button` is the pressed one, which speaks of the group that it stands in. */
    accept(button) {
      const box = button?.closest("[data-group]");
      if (box) itemNow()?.setCurrent(itemNow().groupOf(box));
      const group = current();
      if (group && itemNow().accept(group)) onwards(group);
    },
  };
  return actions;
}
