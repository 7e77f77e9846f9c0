// What one item shows of its answers: chosen labels, suggestions, highlights in the texts and their chips, and which unit
// is meant. It reads the item's state and touches only what differs from the last time.

const NONE = [];
// As annotation/task_types/base.py writes an answer of several labels.
export const SEPARATOR = "|";
export const NONE_CHOSEN = "(none)";
export const chosenIn = (dimension, answer) => (answer === undefined ? NONE : dimension.answer === "labels" ? answer.split(SEPARATOR) : [answer]);
const QUOTED = 500; // characters of a highlight that its chip repeats

let isOnlyCurrent = false; // show the current unit's highlights alone; kept from item to item

/** `painted()` is called once a suggestion has been before the person's eyes: painted, and within the window. */
export function createView(item, painted) {
  const { node, payload, groups, texts } = item;
  const find = (selector) => node.querySelector(selector);
  const isMany = payload.units.length > 1;
  const hasColours = payload.has_unit_colours;
  const shown = groups.map(() => ({}));
  const chips = new WeakMap(); // span -> its chip
  const ranges = new WeakMap(); // suggestion -> its spans in UTF-16 units
  const rows = new Map([...node.querySelectorAll("[data-unit-row]")].map((row) => [row.dataset.unitRow, row]));
  const wholes = [...node.querySelectorAll("[data-whole]")];
  // Where in the answer each unit is from.
  const stated = (payload.stated_in ?? NONE).map((place) => place && { ...item.utf16({ field: "response", start: place[0], end: place[1] }), kind: "stated" });
  const counted = find("[data-counted]");
  const only = find('[data-do="only"]');
  let caret = null; // {field, start, end}: what the keyboard's caret covers
  let pointed = NONE; // the spans that the pointer or the focus is at, from a chip or a row
  let outlined = NONE; // their marks
  // What shows a suggestion. The browser looks at it with each frame that it paints, never while the tab is hidden.
  const seen = new IntersectionObserver((found) => notice(found));

  function notice(found) {
    if (!found.some((one) => one.isIntersecting && one.intersectionRatio > 0)) return;
    seen.disconnect();
    painted();
  }

  if (hasColours) {
    payload.units.forEach((unit, index) => {
      const colour = (index % 20) + 1;
      rows.get(unit)?.style.setProperty("--own", `var(--aspect-${colour})`);
      rows.get(unit)?.style.setProperty("--own-line", `var(--aspect-${colour}-line)`);
    });
  }

  function render() {
    let answered = 0;
    let asked = 0;
    for (const group of groups) {
      const isAsked = item.isAsked(group);
      asked += isAsked;
      answered += item.label(group) !== undefined;
      renderGroup(group, isAsked);
    }
    renderMarks();
    if (counted) counted.textContent = `${answered} of ${asked} labelled`;
  }

  function renderGroup(group, isAsked) {
    const last = shown[group.index];
    // A suggestion to a question that is not asked yet would give away the answer to the one before it.
    const suggestion = isAsked ? item.suggestionFor(group) : undefined;
    const now = { isAsked, label: item.label(group), spans: item.spansOf(group), suggestion, isOff: item.isOff(group) };
    if (Object.keys(now).every((name) => last[name] === now[name])) return;
    shown[group.index] = now;
    group.box.disabled = !isAsked;
    group.box.toggleAttribute("data-answered", now.label !== undefined);
    const chosen = chosenIn(group.dimension, now.label);
    for (const input of group.inputs) {
      if ("text" in input.dataset) {
        if (input.value.trim() !== (now.label ?? "")) input.value = now.label ?? "";
        continue;
      }
      if ("number" in input.dataset) {
        // What somebody is typing may be the beginning of a number.
        const isOther = Number(input.value || NaN) !== Number(now.label);
        if (isOther && (now.label !== undefined || input !== document.activeElement)) input.value = now.label ?? "";
        continue;
      }
      const isChosen = chosen.includes(input.value);
      if (input.checked !== isChosen) input.checked = isChosen;
    }
    if (now.suggestion !== last.suggestion) renderSuggestion(group, now.suggestion);
    if (group.dimension.spans && (group.spans || now.spans.length)) renderChips(group, now);
  }

  function renderSuggestion(group, suggestion) {
    const line = group.box.querySelector("[data-suggestion]");
    if (!line) return;
    for (const input of group.inputs) input.closest(".choice")?.classList.toggle("is-suggested", chosenIn(group.dimension, suggestion?.label).includes(input.value));
    line.hidden = !suggestion;
    line.replaceChildren();
    if (!suggestion) return;
    const score = typeof suggestion.score === "number" ? ` · ${suggestion.score.toFixed(2)}` : "";
    const accept = Object.assign(document.createElement("button"), { type: "button", className: "small quiet" });
    accept.dataset.do = "accept";
    const key = document.createElement("kbd");
    key.textContent = "a";
    accept.append("Accept ", key);
    const title = suggestion.title ?? item.titleOf(group, suggestion.label);
    line.replaceChildren(`${suggestion.checker} suggests `, Object.assign(document.createElement("b"), { textContent: title }), score, " ", accept);
    if (suggestion.explanation) line.append(Object.assign(document.createElement("span"), { className: "reasons", dir: "auto", textContent: suggestion.explanation }));
    watch([line, ...group.box.querySelectorAll(".is-suggested")]);
  }

  function watch(elements) {
    if (!item.suggestionsShownAt) for (const element of elements) seen.observe(element);
  }

  // ---- chips ----

  /** In a list of many units a place for chips is made when a unit has its first highlight. */
  function chipList(group) {
    if (!group.spans) {
      group.spans = Object.assign(document.createElement("div"), { className: "unit-spans" });
      const list = Object.assign(document.createElement("ul"), { className: "chips" });
      list.dataset.chips = "";
      list.setAttribute("aria-label", `Highlights of number ${group.number}`);
      group.spans.append(list);
      group.box.after(group.spans);
    }
    return group.spans.querySelector("[data-chips]");
  }

  function renderChips(group, { spans, isOff }) {
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
  }

  function makeChip(group, span) {
    const { text, title } = texts.get(span.field);
    const isWhole = item.isWhole(group, span);
    const quote = isWhole ? "all of it" : text.slice(span.start, span.end);
    const short = quote.length > QUOTED ? `${quote.slice(0, QUOTED)}…` : quote;
    const chip = document.createElement("li");
    const words = Object.assign(document.createElement("button"), { type: "button", textContent: short, dir: "auto", className: "quote" });
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×", className: "remove" });
    const own = item.ownLabels(group).findIndex((one) => one.value === span.label);
    const called = own < 0 ? "" : item.ownLabels(group)[own].title;
    if (called) {
      chip.style.setProperty("--own-line", `var(--aspect-${own + 1}-line)`);
      chip.append(Object.assign(document.createElement("span"), { className: "place", textContent: called }));
    }
    if (item.spanFields(group).length > 1) {
      chip.append(Object.assign(document.createElement("span"), { className: "place", textContent: title }));
      words.setAttribute("aria-description", title);
    }
    words.title = "Show it in the text";
    words.addEventListener("click", () => {
      const place = isWhole ? texts.get(span.field).element : texts.get(span.field).marks(span.start, span.end)[0];
      place?.scrollIntoView({ block: isWhole ? "nearest" : "center", behavior: "instant" });
    });
    remove.setAttribute("aria-label", `Remove the highlight: ${[called, isWhole ? title : ""].filter(Boolean).map((one) => `${one}, `).join("")}${short}`);
    remove.addEventListener("click", () => {
      const list = chip.parentElement;
      const index = [...list.children].indexOf(chip);
      item.removeSpan(group, span);
      (list.children[Math.min(index, list.children.length - 1)]?.querySelector(".remove") ?? group.box).focus();
    });
    for (const event of ["pointerenter", "focusin"]) chip.addEventListener(event, () => point([span]));
    for (const event of ["pointerleave", "focusout"]) chip.addEventListener(event, () => point(NONE));
    chip.append(words, remove);
    chips.set(span, chip);
    return chip;
  }

  // ---- marks ----

  function suggestedSpans(group) {
    const suggestion = item.isAsked(group) ? item.suggestionFor(group) : undefined;
    if (!suggestion?.spans?.length) return NONE;
    if (!ranges.has(suggestion)) ranges.set(suggestion, suggestion.spans.filter((span) => texts.has(span.field)).map(item.utf16));
    return ranges.get(suggestion);
  }

  function renderMarks() {
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
      for (const span of item.spansOf(group)) {
        if (!item.isWhole(group, span)) layers.get(span.field)?.push({ start: span.start, end: span.end, kind, number: numberOf(span) });
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
    if (item.suggestions.length) watch(node.querySelectorAll("mark.suggested"));
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
    render,
    /** What the last frame showed and nobody was told yet. */
    lookAgain: () => notice(seen.takeRecords()),
    setCaret(next) {
      caret = next;
      renderMarks();
    },
    /** Another group is current. */
    moved(from, to) {
      from?.box.classList.remove("is-current");
      to.box.classList.add("is-current");
      if (from?.unit !== to.unit) rows.get(from?.unit)?.removeAttribute("aria-current");
      rows.get(to.unit)?.setAttribute("aria-current", "true");
      if (from?.unit !== to.unit) renderMarks();
    },
    /** Show the current unit's highlights alone, or all again. Returns which; undefined where units have no colours. */
    showOnlyCurrent() {
      if (!hasColours) return undefined;
      isOnlyCurrent = !isOnlyCurrent;
      renderMarks();
      return isOnlyCurrent;
    },
  };
}
