// Highlighting: what is selected, or what the caret covers, becomes a highlight of a question.

import { keyOf } from "../keyboard.js";
import { createCaret, listenToClicks } from "./caret.js";
import { createSpanLabels, partOf } from "./labels.js";
import { createEditing } from "./editing.js";
import { listenToDrags, selected } from "./selection.js";
import { gettext } from "../../words.js";

const READ = 200; // characters that are read out
const OWN = "[data-span-label], [data-span-severity]";

/**
 * Highlighting on whatever item `itemNow()` gives. `page` has announce(text), showStatus(text, kind), focus() (back to the
 * questions) and left() (the caret is gone). `isSnapping()`: what the mouse selects is widened to words.
 */
export function createHighlighter(stage, itemNow, page, isSnapping = () => true) {
  let caret = null;
  const labels = createSpanLabels(stage, itemNow);
  let isByCharacter = false; // how the selection that waits for its unit was made

  /** Choose the label or the severity of the next highlight; what is selected becomes one. */
  function nameNext(button) {
    const item = itemNow();
    if (isWaiting()) return;
    const { part, value } = partOf(button);
    const { of, title } = button.dataset;
    labels.choose(part, of, value);
    const group = item.groupsOf(item.spanUnit()).find((one) => one.dimension.slug === of);
    if (group?.unit === item.current().unit) item.setCurrent(group);
    if (!useSelection(isByCharacter)) page.announce(part === "label" ? gettext("Highlights are labelled {label}", { label: title }) : gettext("The severity of highlights is {severity}", { severity: title }));
  }

  /** Highlight a stretch for a group, or for the unit that highlights are about. True when the page shows it now. */
  function add(text, { start, end }, wanted) {
    const { field } = text.element.dataset;
    const item = itemNow();
    const group = item.groupFor(field, wanted?.unit);
    const [label, severity] = group ? [labels.labelOf(group), labels.severityOf(group)] : [];
    const span = { field, start, end, label: label?.value, severity: severity?.value };
    const why = group ? (!wanted && item.whyAnother(group)) || item.addSpan(group, span) : gettext("This text takes no highlights");
    if (why) page.showStatus(why, "missing");
    const number = group ? item.nameOf(group) : "";
    if (!why && number) page.showStatus(gettext("Highlighted") + number);
    page.announce(why || `${gettext("Highlighted")}${number}${label ? ` ${gettext("as {label}", { label: label.title })}` : ""}${severity ? `, ${severity.title}` : ""}: ${text.text.slice(start, Math.min(end, start + READ))}`);
    return !why;
  }

  function removeAt(text, span) {
    const item = itemNow();
    const { field } = text.element.dataset;
    const here = item.spanUnit();
    for (const isHere of [true, false]) {
      for (const group of item.groups) {
        // Another unit's highlight can be meant only where all are in sight.
        if ((group.unit === here) !== isHere || !(isHere || item.payload.has_unit_colours)) continue;
        const found = item.spansOf(group).findLast((other) => other.field === field && other.start < span.end && other.end > span.start && !item.isWhole(group, other));
        if (!found) continue;
        item.removeSpan(group, found);
        return page.announce(gettext("Highlight removed"));
      }
    }
    return page.showStatus(gettext("There is no highlight here"));
  }
  const isWaiting = () => !itemNow() || itemNow().stage === "waiting";

  /** Turns the mouse's or the finger's selection into a highlight; true when something was selected. */
  function useSelection(byCharacter, wanted) {
    if (isWaiting()) return false;
    const texts = itemNow().spanTexts();
    const found = texts.length ? selected(texts, byCharacter) : null;
    if (!found) return false;
    if (!add(found.text, found, wanted)) return true;
    document.getSelection().removeAllRanges();
    editing.offer(found.text.element.dataset.field, found.start);
    return true;
  }

  function drop() {
    if (caret) {
      caret.text.element.classList.remove("has-caret");
      for (const name of ["role", "aria-label"]) caret.text.element.removeAttribute(name);
    }
    caret = null;
    itemNow()?.setCaret(null);
  }

  function leave() {
    if (!caret) return;
    drop();
    page.left();
  }

  /** The caret goes into a text, where it was last or at the first word. */
  function enter(text, from) {
    const item = itemNow();
    const { element } = text;
    const { field } = element.dataset;
    const show = (span) => {
      item.setCaret({ field, ...span });
      text.bring(text.marks(span.start, span.end).at(-1));
      const isMarked = item.groups.some((group) => item.spansOf(group).some((one) => one.field === field && one.start < span.end && one.end > span.start && !item.isWhole(group, one)));
      const place = element.getAttribute("role") ? "" : `${text.title}: `; // it goes into the text just now
      page.announce(`${place}${text.text.slice(span.start, Math.min(span.end, span.start + READ))}${isMarked ? `, ${gettext("highlighted")}` : ""}`);
    };
    const made = createCaret(text, from, {
      add: (span) => add(text, span),
      addAs(number, span) {
        const group = item.groupFor(field);
        const label = group && item.ownLabels(group)[number - 1];
        if (!label) return false;
        labels.choose("label", group.dimension.slug, label.value);
        add(text, span);
        return true;
      },
      /** The severity of the highlights under the caret, or else of the next one. */
      grade(number, span) {
        const group = item.groupFor(field);
        const severity = group && item.severities(group)[number - 1];
        if (!severity) return false;
        labels.choose("severity", group.dimension.slug, severity.value);
        const here = item.spansOf(group).findLast((one) => one.field === field && one.start < span.end && one.end > span.start);
        const { why } = here ? item.changeSpan(group, here, { severity: severity.value }) : {};
        if (why) page.showStatus(why, "missing");
        page.announce(why || (here ? gettext("The highlight is {severity}", { severity: severity.title }) : gettext("The next highlight is {severity}", { severity: severity.title })));
        return true;
      },
      turnLabel(direction) {
        const group = item.groupFor(field);
        const label = group && labels.turn(group, direction);
        if (label) page.announce(gettext("Highlights are labelled {label}", { label: label.title }));
        return Boolean(label);
      },
      removeAt: (span) => removeAt(text, span),
      turn(direction) {
        const texts = item.spanTexts();
        const next = texts[texts.indexOf(text) + direction];
        return next !== undefined && enter(next, null);
      },
      leave() {
        leave();
        page.focus();
      },
      moved: show,
      begun: () => page.showStatus(gettext("Click the last word of the highlight")),
    });
    if (!made) return false;
    drop();
    caret = made;
    show(caret.span);
    // Its keys are its own, and what it stands on is announced: a reader's own cursor would not move with it.
    element.setAttribute("role", "application");
    element.setAttribute("aria-label", gettext("{title}: caret for highlights", { title: text.title }));
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.classList.add("has-caret");
    page.showStatus(`${text.title ? `${text.title}: ` : ""}${gettext("arrows move, Shift extends, Enter adds, Delete removes, Esc leaves; or click the first word, then the last one")}`);
    return true;
  }

  /** What the mouse selected, or else a caret in the text. */
  function start() {
    if (isWaiting() || useSelection(isByCharacter)) return;
    const item = itemNow();
    const texts = item.spanTexts();
    if (!texts.length) return page.showStatus(gettext("This task has no highlights"));
    const last = item.caretAt && texts.find((text) => text.element.dataset.field === item.caretAt.field);
    enter(last ?? texts[0], last ? item.caretAt : null);
  }

  stage.addEventListener("focusin", (event) => caret && !caret.text.element.contains(event.target) && leave());
  stage.addEventListener("click", ({ target }) => target.closest(OWN) && nameNext(target.closest(OWN)));
  const editing = createEditing(stage, itemNow, page, isSnapping);
  listenToClicks(stage, () => caret, () => itemNow().spanTexts(), enter);
  listenToDrags(stage, isSnapping, {
    ended: (byCharacter) => (isByCharacter = byCharacter), // at once: a key may come before what waits for the selection
    work(byCharacter) {
      const item = itemNow();
      if (!item?.payload.unit_picks) return useSelection(byCharacter);
      // Where digits pick units, one of them says what the stretch belongs to.
      if (!isWaiting() && selected(item.spanTexts(), byCharacter)) page.showStatus(gettext("Press a number to choose where it belongs, or {key} for {number}", { key: keyOf("highlight"), number: item.groupsOf(item.spanUnit())[0].number }));
      return undefined;
    },
  });
  // Pressing the button must not lose the selection that it is meant for.
  for (const press of ["pointerdown", "mousedown"]) {
    stage.addEventListener(press, (event) => event.target.closest(`[data-do="highlight"], [data-do="pick"], ${OWN}`) && event.preventDefault());
  }
  return {
    start, leave,
    isActive: () => caret !== null,
    /** Highlight for a group what the caret covers or what is selected; false when there is neither. */
    mark(group) {
      if (!caret) return useSelection(isByCharacter, group);
      add(caret.text, caret.span, group);
      return true;
    },
    key: (event) => caret !== null && caret.text.element.contains(event.target) && caret.key(event),
  };
}
