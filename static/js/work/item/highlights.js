// An item's highlights on the page: the marks in its texts, and a chip for each, with what is quoted, a way to its place
// and a button that removes it.

import { gettext } from "../../words.js";

const NONE = [];
const QUOTED = 500; // characters of a highlight that its chip repeats
let isOnlyCurrent = false; // show the current unit's highlights alone; kept from item to item
const make = (tag, more) => Object.assign(document.createElement(tag), more);

/** `rows` are the elements of the units. */
export function createMarks(item, rows) {
  const { node, payload, groups, texts } = item;
  const isMany = payload.units.length > 1;
  const hasColours = payload.has_unit_colours;
  const ranges = new WeakMap(); // suggestion -> its spans in UTF-16 units
  const wholes = [...node.querySelectorAll("[data-whole]")];
  // Where in the answer each unit is from.
  const stated = (payload.stated_in ?? NONE).map((place) => place && { ...item.utf16({ field: "response", start: place[0], end: place[1] }), kind: "stated" });
  const only = node.querySelector('[data-do="only"]');
  let caret = null; // {field, start, end}: what the keyboard's caret covers
  let pointed = NONE; // the spans that the pointer or the focus is at, from a chip or a row
  let outlined = NONE; // their marks

  function suggestedSpans(group) {
    const suggestion = item.isAsked(group) ? item.suggestionFor(group) : undefined;
    if (!suggestion?.spans?.length) return NONE;
    if (!ranges.has(suggestion)) ranges.set(suggestion, suggestion.spans.filter((span) => texts.has(span.field)).map(item.utf16));
    return ranges.get(suggestion);
  }

  /** Paints all texts anew where they differ. */
  function render() {
    const layers = new Map([...texts.keys()].map((name) => [name, []]));
    const whole = new Set();
    const { unit } = item.current();
    const spanUnit = item.spanUnit();
    for (const group of groups) {
      if (!group.dimension.spans) continue;
      const isHere = group.unit === unit;
      if (hasColours && isOnlyCurrent && !isHere) continue;
      const number = hasColours ? group.number : 0;
      const kind = item.isOff(group) ? "off" : isHere || hasColours || !isMany ? "chosen" : "other";
      // Highlights with labels of their own differ by these, where units do not.
      const numberOf = (span) => number || item.ownLabels(group).findIndex((one) => one.value === span.label) + 1;
      const wordOf = (span) => item.severities(group).find((one) => one.value === span.severity)?.title ?? "";
      for (const span of item.spansOf(group)) {
        if (!item.isWhole(group, span)) layers.get(span.field)?.push({ start: span.start, end: span.end, kind, number: numberOf(span), word: wordOf(span) });
        else if (group.unit === spanUnit) whole.add(span.field);
      }
      if (!isHere && isMany && !hasColours) continue;
      for (const span of suggestedSpans(group)) layers.get(span.field).push({ start: span.start, end: span.end, kind: "suggested", number });
    }
    const from = stated[payload.units.indexOf(unit)];
    if (from) layers.get("response")?.push(from);
    for (const layer of item.overlay ?? NONE) if (!isMany || layer.unit === unit) layers.get(layer.field)?.push(layer);
    if (caret) layers.get(caret.field).push({ start: caret.start, end: caret.end, kind: "caret", number: 0 });
    for (const [name, text] of texts) text.paint(layers.get(name));
    renderWholes(whole);
    outline();
    if (only) only.setAttribute("aria-pressed", String(isOnlyCurrent));
  }

  function renderWholes(whole) {
    if (!wholes.length) return;
    const able = new Set(item.wholeTexts());
    for (const button of wholes) {
      const text = texts.get(button.dataset.whole);
      button.hidden = !able.has(text) || text.isEmpty;
      button.setAttribute("aria-pressed", String(whole.has(button.dataset.whole)));
      button.closest(".sheet").classList.toggle("is-whole", whole.has(button.dataset.whole));
    }
  }

  function point(spans) {
    pointed = spans;
    outline();
  }

  function outline() {
    if (!pointed.length && !outlined.length) return;
    for (const mark of outlined) mark.classList.remove("pointed");
    outlined = pointed.flatMap((span) => texts.get(span.field).marks(span.start, span.end));
    for (const mark of outlined) mark.classList.add("pointed");
  }

  // A row points out its own highlights, a highlight the rows that it belongs to.
  const pointAt = (event) => {
    if (event.target.closest(".chips li")) return;
    const row = event.target.closest("[data-unit-row]");
    point(row ? item.groupsOf(row.dataset.unitRow).flatMap((group) => item.spansOf(group).filter((span) => !item.isWhole(group, span))) : NONE);
  };
  const pointBack = (event) => {
    const numbers = event.target.closest("mark[data-numbers]")?.dataset.numbers.split(" ") ?? NONE;
    payload.units.forEach((unit, index) => rows.get(unit)?.classList.toggle("is-pointed", numbers.includes(String(index + 1))));
  };
  if (hasColours) {
    for (const event of ["pointerover", "focusin"]) node.addEventListener(event, pointAt);
    node.addEventListener("focusout", () => point(NONE));
    node.addEventListener("pointerover", pointBack);
  }

  return {
    render, point,
    setCaret(next) {
      caret = next;
    },
    /** Show the current unit's highlights alone, or all again. Returns which; undefined where units have no colours. */
    showOnlyCurrent() {
      if (!hasColours) return undefined;
      isOnlyCurrent = !isOnlyCurrent;
      return isOnlyCurrent;
    },
  };
}

/** `point(spans)` is called with the highlights that the pointer or the focus is at, or with none. Returns render(group, {spans, isOff}). */
export function createChips(item, point) {
  const chips = new WeakMap(); // span -> its chip

  /** In a list of many units a place for chips is made when a unit has its first highlight. */
  function chipList(group) {
    if (!group.spans) {
      group.spans = make("div", { className: "unit-spans" });
      const list = make("ul", { className: "chips" });
      list.dataset.chips = "";
      list.setAttribute("aria-label", gettext("Highlights of number {number}", { number: group.number }));
      group.spans.append(list);
      group.box.after(group.spans);
    }
    return group.spans.querySelector("[data-chips]");
  }

  function makeChip(group, span) {
    const { text, title } = item.texts.get(span.field);
    const isWhole = item.isWhole(group, span);
    const quote = isWhole ? gettext("all of it") : text.slice(span.start, span.end);
    const short = quote.length > QUOTED ? `${quote.slice(0, QUOTED)}…` : quote;
    const chip = make("li");
    const words = make("button", { type: "button", textContent: short, dir: "auto", className: "quote" });
    const remove = make("button", { type: "button", textContent: "×", className: "remove" });
    const own = item.ownLabels(group).findIndex((one) => one.value === span.label);
    const label = own < 0 ? "" : item.ownLabels(group)[own].title;
    if (label) {
      chip.style.setProperty("--own-line", `var(--aspect-${(own % 20) + 1}-line)`);
      chip.append(make("span", { className: "place", textContent: label }));
    }
    const severity = item.severities(group).find((one) => one.value === span.severity)?.title;
    if (severity) chip.append(make("b", { className: "severity", textContent: severity }));
    if (item.spanFields(group).length > 1) {
      chip.append(make("span", { className: "place", textContent: title }));
      words.setAttribute("aria-description", title);
    }
    words.title = gettext("Show it in the text");
    words.addEventListener("click", () => {
      const shown = item.texts.get(span.field);
      shown.bring(isWhole ? shown.element : shown.marks(span.start, span.end)[0], isWhole ? "nearest" : "center");
    });
    remove.setAttribute("aria-label", gettext("Remove the highlight: {quote}", { quote: [label, severity, isWhole ? title : "", short].filter(Boolean).join(", ") }));
    remove.addEventListener("click", () => {
      const list = chip.parentElement;
      const index = [...list.children].indexOf(chip);
      item.removeSpan(group, span);
      (list.children[Math.min(index, list.children.length - 1)]?.querySelector(".remove") ?? group.box).focus();
    });
    for (const event of ["pointerenter", "focusin"]) chip.addEventListener(event, () => point([span]));
    for (const event of ["pointerleave", "focusout"]) chip.addEventListener(event, () => point([]));
    chip.append(words, ...(span.reason ? [make("span", { className: "reason", dir: "auto", textContent: span.reason })] : []), remove);
    chips.set(span, chip);
    return chip;
  }

  return function render(group, { spans, isOff }) {
    const list = chipList(group);
    group.spans.classList.toggle("is-off", isOff);
    const kept = new Set(spans.map((span) => chips.get(span)));
    for (const chip of [...list.children]) if (!kept.has(chip)) chip.remove();
    let next = list.firstElementChild;
    for (const span of spans) {
      const chip = chips.get(span) ?? makeChip(group, span);
      if (chip === next) next = next.nextElementSibling;
      else list.insertBefore(chip, next);
    }
  };
}
