// Highlighting: what the mouse selects, and a caret for the keyboard that walks through the texts of an item.

/** What is selected inside one of `texts`, widened to words unless `byCharacter`; null when nothing is. */
function selected(texts, byCharacter) {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const touched = texts.filter((text) => range.intersectsNode(text.element));
  const text = touched.find((candidate) => candidate.element.contains(selection.anchorNode)) ?? touched[0];
  if (!text) return null;
  const start = text.offsetOf(range.startContainer, range.startOffset);
  const end = text.offsetOf(range.endContainer, range.endOffset);
  const span = text.snap(start, end, byCharacter);
  return span && { text, ...span };
}

/** What scrolls when `element` has to: a box that scrolls by itself, or the page. */
function frameOf(element) {
  for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return document.scrollingElement;
}

/**
 * The keyboard's caret in one text, at `from` or its first word. `act` has add(span), addAs(number, span) (with the
 * label of that number; false where there is none), removeAt(span), leave(), turn(direction) (to the next text; false when there is none) and moved(span); the caller paints.
 * Returns {span, key(event)}; key says whether it used the event.
 */
function createCaret(text, from, act) {
  const { element } = text;
  const first = () => text.nextWord(0, () => true);
  const last = () => text.previousWord(text.text.length, () => true);
  let anchor = from ?? first();
  if (!anchor) return null;
  let span = { start: anchor.start, end: anchor.end };
  anchor = { ...span };
  let direction = 1;

  const set = (next, isExtended) => {
    if (!next) return;
    span = { start: next.start, end: next.end };
    if (!isExtended) anchor = { ...span };
    act.moved(span);
  };

  function moveWord(towards) {
    set(towards > 0 ? text.nextWord(span.end, (word) => word.start >= span.end) : text.previousWord(span.start, (word) => word.start < span.start), false);
  }

  function extendWord(towards) {
    if (span.start === anchor.start && span.end === anchor.end) direction = towards;
    const next = { ...span };
    if (direction > 0) {
      const word = towards > 0 ? text.nextWord(span.end, (one) => one.end > span.end) : text.previousWord(span.end, (one) => one.end < span.end);
      if (word) next.end = Math.max(word.end, anchor.end);
    } else {
      const word = towards < 0 ? text.previousWord(span.start, (one) => one.start < span.start) : text.nextWord(span.start, (one) => one.start > span.start);
      if (word) next.start = Math.min(word.start, anchor.start);
    }
    set(next, true);
  }

  function moveCharacter(towards) {
    const start = text.step(span.start, towards);
    const end = text.step(start, 1);
    if (end > start) set({ start, end }, false);
  }

  function extendCharacter(towards) {
    if (span.start === anchor.start && span.end === anchor.end && towards > 0) direction = 1;
    const next = { ...span };
    if (direction > 0) next.end = text.step(span.end, towards);
    else next.start = text.step(span.start, towards);
    if (next.end > next.start) set(next, true);
  }

  /** Where on the screen the caret's moving end is. */
  function place() {
    const marks = text.marks(span.start, span.end);
    const mark = direction > 0 ? marks.at(-1) : marks[0];
    mark?.scrollIntoView({ block: "nearest", behavior: "instant" });
    const boxes = mark?.getClientRects();
    const box = boxes && (direction > 0 ? boxes[boxes.length - 1] : boxes[0]);
    return box && { x: box.left + box.width / 2, y: box.top + box.height / 2, height: box.height };
  }

  function offsetAt(x, y) {
    const found = document.caretPositionFromPoint?.(x, y);
    const range = found ? null : document.caretRangeFromPoint?.(x, y);
    const node = found?.offsetNode ?? range?.startContainer;
    return node && element.contains(node) ? text.offsetOf(node, found?.offset ?? range.startOffset) : null;
  }

  function go(hit, isExtended) {
    const word = text.nextWord(hit, (one) => one.end > hit) ?? last();
    if (!isExtended) return set(word, false);
    direction = word.start >= anchor.start ? 1 : -1;
    return set({ start: Math.min(word.start, anchor.start), end: Math.max(word.end, anchor.end) }, true);
  }

  function line(towards, isExtended) {
    const from = place();
    if (!from) return;
    const height = parseFloat(getComputedStyle(element).lineHeight) || from.height * 1.5;
    const hit = offsetAt(from.x, from.y + towards * height);
    if (hit !== null) go(hit, isExtended);
  }

  function screenful(towards, isExtended) {
    const from = place();
    const frame = frameOf(element);
    const before = frame.scrollTop;
    frame.scrollBy({ top: towards * frame.clientHeight * 0.7, behavior: "instant" });
    // Nothing of the text below that place, or nothing left to scroll: its end is meant.
    const hit = from && frame.scrollTop !== before ? offsetAt(from.x, from.y) : null;
    if (hit !== null) go(hit, isExtended);
    else go(towards > 0 ? last().start : 0, isExtended);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey) return false;
    if (/^[1-9]$/.test(event.key) && act.addAs(Number(event.key), { ...span })) {
      set(span, false);
      return true;
    }
    const towards = (event.key === "ArrowRight") !== (getComputedStyle(element).direction === "rtl") ? 1 : -1;
    const [byCharacter, isExtended] = [event.altKey, event.shiftKey];
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight":
        if (byCharacter) (isExtended ? extendCharacter : moveCharacter)(towards);
        else (isExtended ? extendWord : moveWord)(towards);
        return true;
      case "ArrowUp":
      case "ArrowDown":
        line(event.key === "ArrowDown" ? 1 : -1, isExtended);
        return true;
      case "PageUp":
      case "PageDown":
        screenful(event.key === "PageDown" ? 1 : -1, isExtended);
        return true;
      case "Home":
      case "End":
        set(event.key === "Home" ? first() : last(), false);
        return true;
      case "Tab":
        return act.turn(event.shiftKey ? -1 : 1);
      case "Enter":
      case " ":
        if (!event.repeat) act.add({ ...span });
        set(span, false);
        return true;
      case "Delete":
      case "Backspace":
        if (!event.repeat) act.removeAt({ ...span });
        return true;
      case "Escape":
      case "h":
        act.leave();
        return true;
      default:
        return false;
    }
  }

  return { text, key, get span() { return span; } };
}

const READ = 200; // characters that are read out

/**
 * Highlighting on whatever item `itemNow()` gives. `page` has announce(text), tell(text, kind), focus() (back to the
 * questions) and left() (the caret is gone).
 */
export function createHighlighter(stage, itemNow, page) {
  let caret = null;
  const labels = new Map(); // question -> the label that its next highlight gets, kept from item to item
  let isByCharacter = false; // how the selection that waits for its unit was made

  /** The label of a group's next highlight; undefined where they have none. */
  function labelFor(group) {
    const own = itemNow().ownLabels(group);
    return own.find((one) => one.value === labels.get(group.dimension.slug)) ?? own[0];
  }

  function showLabels() {
    for (const button of stage.querySelectorAll("[data-span-label]")) {
      const group = itemNow().groups.find((one) => one.dimension.slug === button.dataset.of);
      const number = itemNow().ownLabels(group).findIndex((one) => one.value === button.dataset.spanLabel) + 1;
      button.setAttribute("aria-pressed", String(labelFor(group).value === button.dataset.spanLabel));
      button.style.setProperty("--own-line", `var(--aspect-${number}-line)`);
    }
  }

  // Items are swapped whole, and the label stays from one to the next.
  new MutationObserver(() => itemNow() && showLabels()).observe(stage, { childList: true });

  /** Choose the label of the next highlight; what is selected becomes one. */
  function nameNext(button) {
    const item = itemNow();
    if (isWaiting()) return;
    labels.set(button.dataset.of, button.dataset.spanLabel);
    showLabels();
    const group = item.groupsOf(item.spanUnit()).find((one) => one.dimension.slug === button.dataset.of);
    if (group?.unit === item.current().unit) item.setCurrent(group);
    if (!take(isByCharacter)) page.announce(`Highlights are labelled ${button.dataset.title}`);
  }

  /** Highlight a stretch for a group, or for the unit that highlights are about. True when the page shows it now. */
  function add(text, { start, end }, wanted) {
    const { field } = text.element.dataset;
    const item = itemNow();
    const group = item.groupFor(field, wanted?.unit);
    const label = group && labelFor(group);
    const why = group ? (!wanted && item.whyAnother(group)) || item.addSpan(group, { field, start, end, label: label?.value }) : "Nothing is highlighted in this text";
    if (why) page.tell(why, "missing");
    const number = group ? item.nameOf(group) : "";
    if (!why && number) page.tell(`Highlighted${number}`);
    page.announce(why || `Highlighted${number}${label ? ` as ${label.title}` : ""}: ${text.text.slice(start, Math.min(end, start + READ))}`);
    return !why;
  }

  function removeAt(text, span) {
    const item = itemNow();
    const { field } = text.element.dataset;
    const here = item.spanUnit();
    for (const isHere of [true, false]) {
      for (const group of item.groups) {
        // Only where all are in sight is another unit's highlight what somebody means.
        if ((group.unit === here) !== isHere || !(isHere || item.payload.has_unit_colours)) continue;
        const found = item.spansOf(group).findLast((other) => other.field === field && other.start < span.end && other.end > span.start && !item.isWhole(group, other));
        if (!found) continue;
        item.removeSpan(group, found);
        return page.announce("Highlight removed");
      }
    }
    return page.tell("No highlight is here");
  }

  const isWaiting = () => !itemNow() || itemNow().stage === "waiting";

  /** Turns the mouse's or the finger's selection into a highlight; true when something was selected. */
  function take(byCharacter, wanted) {
    if (isWaiting()) return false;
    const texts = itemNow().spanTexts();
    const found = texts.length ? selected(texts, byCharacter) : null;
    if (!found) return false;
    if (add(found.text, found, wanted)) document.getSelection().removeAllRanges();
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
      text.marks(span.start, span.end).at(-1)?.scrollIntoView({ block: "nearest", behavior: "instant" });
      const isMarked = item.groups.some((group) => item.spansOf(group).some((one) => one.field === field && one.start < span.end && one.end > span.start && !item.isWhole(group, one)));
      const place = element.getAttribute("role") ? "" : `${text.title}: `; // it goes into the text just now
      page.announce(`${place}${text.text.slice(span.start, Math.min(span.end, span.start + READ))}${isMarked ? ", highlighted" : ""}`);
    };
    const made = createCaret(text, from, {
      add: (span) => add(text, span),
      addAs(number, span) {
        const group = item.groupFor(field);
        const label = group && item.ownLabels(group)[number - 1];
        if (!label) return false;
        labels.set(group.dimension.slug, label.value);
        showLabels();
        add(text, span);
        return true;
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
    });
    if (!made) return false;
    drop();
    caret = made;
    show(caret.span);
    // Its keys are its own, and what it stands on is announced: a reader's own cursor would not move with it.
    element.setAttribute("role", "application");
    element.setAttribute("aria-label", `${text.title}: caret for highlights`);
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.classList.add("has-caret");
    page.tell(`${text.title ? `${text.title}: ` : ""}arrows move, Shift extends, Enter adds, Delete removes, Esc leaves`);
    return true;
  }

  /** What the mouse selected, or else a caret in the text. */
  function start() {
    if (isWaiting() || take(isByCharacter)) return;
    const item = itemNow();
    const texts = item.spanTexts();
    if (!texts.length) return page.tell("Nothing is highlighted in this task");
    const last = item.caretAt && texts.find((text) => text.element.dataset.field === item.caretAt.field);
    enter(last ?? texts[0], last ? item.caretAt : null);
  }

  let pending = null;
  /** Do now what waits for the selection of the last drag: whatever comes next may answer the item. */
  function settle() {
    if (pending === null) return;
    clearTimeout(pending.timer);
    const { work } = pending;
    pending = null;
    work();
  }

  for (const next of ["keydown", "pointerdown"]) document.addEventListener(next, settle, true);
  stage.addEventListener("focusin", (event) => caret && !caret.text.element.contains(event.target) && leave());
  stage.addEventListener("click", (event) => {
    const button = event.target.closest("[data-span-label]");
    if (button) nameNext(button);
  });
  // A drag may end anywhere; where it began says whether it is one.
  let isDragging = false;
  document.addEventListener("pointerdown", (event) => {
    isDragging = event.pointerType === "mouse" && event.button === 0 && stage.contains(event.target) && !event.target.closest("button");
  }, true);
  document.addEventListener("pointerup", (event) => {
    if (!isDragging || event.button !== 0) return;
    isDragging = false;
    const byCharacter = event.shiftKey || event.altKey;
    isByCharacter = byCharacter; // at once: a key may come before what waits for the selection
    const work = () => {
      if (!itemNow()?.payload.unit_picks) return take(byCharacter);
      // Where digits pick units, one of them says what the stretch belongs to.
      const item = itemNow();
      if (!isWaiting() && selected(item.spanTexts(), byCharacter)) page.tell(`Press a number to say which it belongs to, or h for ${item.groupsOf(item.spanUnit())[0].number}`);
    };
    pending = { work, timer: setTimeout(settle, 0) };
  });
  // Pressing the button must not lose the selection that it is meant for.
  for (const press of ["pointerdown", "mousedown"]) {
    stage.addEventListener(press, (event) => event.target.closest('[data-do="highlight"], [data-do="pick"], [data-span-label]') && event.preventDefault());
  }
  return {
    start, leave,
    isActive: () => caret !== null,
    /** Highlight for a group what the caret covers or what is selected; false when there is neither. */
    mark(group) {
      if (!caret) return take(isByCharacter, group);
      add(caret.text, caret.span, group);
      return true;
    },
    key: (event) => caret !== null && caret.text.element.contains(event.target) && caret.key(event),
  };
}
