// One item and what has been answered about it: labels, spans, comment, undo; and choosing among its groups. Everything it
// knows of the task comes from the payload; the radios on the page follow the answers, never the other way round.

import { paint, toCodePoints, toUtf16 } from "./spans.js";

const keyOf = (unit, dimension) => `${unit}\n${dimension}`;
const same = (a, b) => a.field === b.field && a.start === b.start && a.end === b.end;
const clone = (value) => JSON.parse(JSON.stringify(value));

/** `node` is the item's <article>, `payload` its description. `onChange()` is called after every change by the person. */
export function createItem(node, payload, onChange) {
  const find = (selector) => node.querySelector(selector);
  const fields = new Map([...node.querySelectorAll("[data-field]")].map((element) => [element.dataset.field, element]));
  const texts = new Map([...fields].map(([name, element]) => [name, element.textContent]));
  const groups = [];
  const byKey = new Map();
  const elements = new Map();
  for (const element of node.querySelectorAll("[data-group], [data-spans]")) {
    const key = keyOf(element.dataset.unit, element.dataset.dimension);
    elements.set(key, { ...elements.get(key), ["group" in element.dataset ? "box" : "spans"]: element });
  }
  for (const unit of payload.units) {
    for (const dimension of payload.dimensions) {
      const key = keyOf(unit, dimension.slug);
      const { box, spans } = elements.get(key) ?? {};
      if (!box) continue;
      const group = { key, unit, dimension, box, spans, inputs: [...box.querySelectorAll("input")], index: groups.length };
      groups.push(group);
      byKey.set(key, group);
    }
  }

  let labels = {};
  let spans = {};
  let past = [];
  let current = 0;
  let caret = null; // {field, start, end}: what the keyboard's caret covers
  let pointed = null; // the span whose chip is under the pointer
  const comment = find("[data-comment]");
  const item = {
    node, payload, groups, fields,
    timer: createTimer(),
    shownAt: null,
    stage: "open", // open | waiting (for the suggestions that follow the first answer) | review | sent
    revision: payload.revision ?? 0,
    suggestions: payload.suggestions ?? [],
    isChanged: false,
  };

  const isAsked = (group) => {
    const condition = group.dimension.asked_when;
    return !condition || condition.labels.includes(labels[keyOf(group.unit, condition.dimension)]);
  };
  const mayCarry = (group) => {
    const rule = group.dimension.spans;
    return rule && (!rule.labels?.length || rule.labels.includes(labels[group.key]));
  };
  const suggestionFor = (group) => item.suggestions.find((one) => one.unit === group.unit && one.dimension === group.dimension.slug);
  const codePoints = (span) => {
    const text = texts.get(span.field);
    return { field: span.field, start: toCodePoints(text, span.start), end: toCodePoints(text, span.end), quote: text.slice(span.start, span.end) };
  };
  const utf16 = (span) => {
    const text = texts.get(span.field) ?? "";
    return { field: span.field, start: toUtf16(text, span.start), end: toUtf16(text, span.end) };
  };

  /** Every change goes through here: remembered for undo, then shown. */
  function change(work) {
    past.push(clone({ labels, spans }));
    work();
    for (const group of groups) if (!isAsked(group)) delete labels[group.key];
    item.isChanged = true;
    render();
    onChange();
  }

  function render() {
    for (const group of groups) {
      const asked = isAsked(group);
      group.box.disabled = !asked;
      group.box.toggleAttribute("data-answered", group.key in labels);
      group.box.classList.toggle("is-current", group.index === current);
      for (const input of group.inputs) {
        const isChosen = input.value === labels[group.key];
        if (input.checked !== isChosen) input.checked = isChosen;
      }
      renderSuggestion(group);
      if (group.spans) renderChips(group, asked);
    }
    renderMarks();
    const counted = find("[data-counted]");
    if (counted) counted.textContent = `${groups.filter((group) => group.key in labels).length} of ${groups.filter(isAsked).length} labelled`;
  }

  function renderSuggestion(group) {
    const suggestion = suggestionFor(group);
    const line = group.box.querySelector("[data-suggestion]");
    if (!suggestion || !line) return;
    if (line.hidden) {
      const score = typeof suggestion.score === "number" ? ` · ${suggestion.score.toFixed(2)}` : "";
      const title = suggestion.title ?? group.dimension.labels.find((label) => label.value === suggestion.label)?.title ?? suggestion.label;
      const accept = Object.assign(document.createElement("button"), { type: "button", className: "small quiet" });
      accept.dataset.do = "accept";
      const key = document.createElement("kbd");
      key.textContent = "a";
      accept.append("Accept ", key);
      line.replaceChildren(`${suggestion.checker} suggests `, Object.assign(document.createElement("b"), { textContent: title }), score, " ", accept);
      line.hidden = false;
    }
    for (const input of group.inputs) input.closest(".choice").classList.toggle("is-suggested", input.value === suggestion.label);
  }

  function renderChips(group, asked) {
    const list = group.spans.querySelector("[data-chips]");
    const own = spans[group.key] ?? [];
    group.spans.classList.toggle("is-off", !asked);
    const state = JSON.stringify(own);
    if (list.dataset.state === state) return;
    list.dataset.state = state;
    list.replaceChildren(...own.map((span, index) => {
      const chip = document.createElement("li");
      const quote = texts.get(span.field).slice(span.start, span.end);
      const words = Object.assign(document.createElement("span"), { textContent: quote, dir: "auto", className: "quote" });
      const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×", className: "remove" });
      remove.setAttribute("aria-label", `Remove the highlight: ${quote}`);
      remove.addEventListener("click", () => {
        item.removeSpan(group, index);
        (list.children[Math.min(index, list.children.length - 1)]?.querySelector("button") ?? group.box).focus();
      });
      const point = (to) => () => {
        pointed = to;
        renderMarks();
      };
      for (const event of ["pointerenter", "focusin"]) chip.addEventListener(event, point(span));
      for (const event of ["pointerleave", "focusout"]) chip.addEventListener(event, point(null));
      chip.append(words, remove);
      return chip;
    }));
  }

  function renderMarks() {
    for (const [name, element] of fields) {
      const layers = [];
      for (const group of groups) {
        if (!group.dimension.spans || group.dimension.spans.field !== name) continue;
        if (isAsked(group) || !(group.dimension.asked_when.dimension in pick(group.unit))) {
          for (const span of spans[group.key] ?? []) layers.push({ start: span.start, end: span.end, kind: "chosen" });
        }
        for (const span of suggestionFor(group)?.spans ?? []) {
          if (span.field === name) layers.push({ ...toRange(utf16(span)), kind: "suggested" });
        }
      }
      if (pointed?.field === name) layers.push({ ...toRange(pointed), kind: "pointed" });
      if (caret?.field === name) layers.push({ ...toRange(caret), kind: "caret" });
      paint(element, layers.filter((layer) => layer.end > layer.start));
    }
  }
  const toRange = ({ start, end }) => ({ start, end });
  const pick = (unit) => Object.fromEntries(groups.filter((group) => group.unit === unit && group.key in labels).map((group) => [group.dimension.slug, labels[group.key]]));

  Object.assign(item, {
    render, isAsked,
    current: () => groups[current],
    label: (group) => labels[group.key],
    /** Mark a group as the one that digits answer. Returns false when it is not asked. */
    setCurrent(group) {
      if (!group || !isAsked(group)) return false;
      groups[current]?.box.classList.remove("is-current");
      current = group.index;
      group.box.classList.add("is-current");
      return true;
    },
    groupOf: (element) => groups.find((group) => group.box === element),
    neighbour(direction) {
      for (let i = current + direction; i >= 0 && i < groups.length; i += direction) if (isAsked(groups[i])) return groups[i];
      return null;
    },
    choose(group, value) {
      if (!isAsked(group) || labels[group.key] === value) return;
      change(() => (labels[group.key] = value));
    },
    accept(group) {
      const suggestion = suggestionFor(group);
      if (!suggestion || !isAsked(group)) return false;
      change(() => {
        labels[group.key] = suggestion.label;
        const rule = group.dimension.spans;
        const own = (spans[group.key] ??= []);
        for (const span of rule ? suggestion.spans ?? [] : []) {
          const added = utf16(span);
          if (span.field === rule.field && !own.some((other) => same(other, added))) own.push(added);
        }
      });
      return true;
    },
    /** Groups that take spans of a field, the current unit's first. */
    spanGroups: () => groups.filter((group) => group.dimension.spans && fields.has(group.dimension.spans.field))
      .sort((a, b) => (b.unit === groups[current].unit) - (a.unit === groups[current].unit)),
    addSpan(group, span) {
      if ((spans[group.key] ?? []).some((other) => same(other, span))) return false;
      change(() => (spans[group.key] = [...(spans[group.key] ?? []), span].sort((a, b) => a.start - b.start || a.end - b.end)));
      return true;
    },
    removeSpan(group, index) {
      change(() => spans[group.key].splice(index, 1));
    },
    spansOf: (group) => spans[group.key] ?? [],
    setCaret(next) {
      caret = next;
      renderMarks();
    },
    /** Take back one step. Returns the group that it was about, or null when there is nothing to take back. */
    undo() {
      if (!past.length) return null;
      const before = labels;
      ({ labels, spans } = past.pop());
      item.isChanged = true;
      render();
      onChange();
      return groups.find((group) => before[group.key] !== labels[group.key]) ?? groups[current];
    },
    suggest(suggestions) {
      item.suggestions = suggestions;
      render();
    },
    /** The first group without its answer, and what to say about it; null when everything is there. */
    missing() {
      for (const group of groups) {
        if (!isAsked(group)) continue;
        if (!(group.key in labels)) {
          const left = groups.filter((other) => isAsked(other) && !(other.key in labels)).length;
          return { group, message: payload.units.length > 1 ? `${left} to go` : `Choose: ${group.dimension.title}` };
        }
        if (group.dimension.spans?.required && mayCarry(group) && !item.spansOf(group).length) {
          return { group, message: "Highlight what made you decide" };
        }
      }
      return null;
    },
    judgements: () => groups.filter((group) => group.key in labels && isAsked(group)).map((group) => ({
      unit: group.unit,
      dimension: group.dimension.slug,
      label: labels[group.key],
      spans: mayCarry(group) ? item.spansOf(group).map(codePoints) : [],
    })),
    comment: () => comment?.value.trim() ?? "",
    draft: () => ({ labels, spans, comment: comment?.value ?? "", shown_at: item.shownAt, active_ms: item.timer.total(), text_hash: payload.text_hash }),
    /** Take over a draft; spans only while the text is the one that they were made on. */
    restore(draft) {
      labels = Object.fromEntries(Object.entries(draft.labels ?? {}).filter(([key, value]) => byKey.get(key)?.dimension.labels.some((label) => label.value === value)));
      spans = draft.text_hash === payload.text_hash ? clone(draft.spans ?? {}) : {};
      if (comment) comment.value = draft.comment ?? "";
      item.shownAt = draft.shown_at ?? item.shownAt;
      item.timer.restore(draft.active_ms ?? 0);
      item.isChanged = true;
      render();
    },
    /** Take over judgements as they are sent and stored. */
    fill(judgements, remark = "") {
      for (const judgement of judgements ?? []) {
        const key = keyOf(judgement.unit, judgement.dimension);
        if (!byKey.has(key)) continue;
        labels[key] = judgement.label;
        if (judgement.spans?.length) spans[key] = judgement.spans.map(utf16);
      }
      if (comment) comment.value = remark;
    },
  });

  if (payload.answers?.length) item.fill(payload.answers, payload.comment ?? "");
  if (comment?.value) find("[data-comment-box]").open = true;
  for (const group of groups) {
    for (const input of group.inputs) input.addEventListener("change", () => item.choose(group, input.value));
  }
  comment?.addEventListener("input", () => {
    item.isChanged = true;
    onChange();
  });
  render();
  return item;
}

/** Choosing labels by digit, click or suggestion, and walking between the groups of whatever item `itemNow()` gives. */
export function createChooser(stage, itemNow) {
  let isPointing = false; // walking through radios with the arrows makes clicks too
  document.addEventListener("pointerdown", () => (isPointing = true), true);
  document.addEventListener("keydown", () => (isPointing = false), true);

  function focus(group) {
    if (!group || !itemNow()?.setCurrent(group)) return;
    group.box.focus({ preventScroll: true });
    group.box.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  function onwards(group) {
    focus(itemNow().neighbour(1) ?? group);
  }

  const current = () => (itemNow() && itemNow().stage !== "waiting" ? itemNow().current() : null);
  const walk = (direction) => () => itemNow() && focus(itemNow().neighbour(direction));

  // A click on a label answers and hands the keyboard to the next group; walking with Tab stays inside the group.
  stage.addEventListener("click", (event) => {
    const box = event.target.closest("[data-group]");
    if (!box || !isPointing || !event.target.matches('input[type="radio"]')) return;
    const group = itemNow().groupOf(box);
    if (itemNow().setCurrent(group)) setTimeout(() => onwards(group), 0); // after the change event
  });
  stage.addEventListener("focusin", (event) => {
    const box = event.target.closest("[data-group]");
    if (box && itemNow()) itemNow().setCurrent(itemNow().groupOf(box));
  });

  return {
    focus,
    up: walk(-1),
    down: walk(1),
    digit(key) {
      const group = current();
      const label = group?.dimension.labels.find((candidate) => candidate.key === key);
      if (!label) return;
      itemNow().choose(group, label.value);
      onwards(group);
    },
    /** `button` is the pressed one, which speaks of the group that it stands in. */
    accept(button) {
      const box = button?.closest("[data-group]");
      if (box) itemNow()?.setCurrent(itemNow().groupOf(box));
      const group = current();
      if (group && itemNow().accept(group)) onwards(group);
    },
  };
}

// ---- active time: while the page is visible and somebody moves or types; a pause counts for 60 seconds at most ----

const IDLE_MS = 60000;
const running = new Set();

function createTimer() {
  let total = 0;
  let last = null; // the latest sign of life; null while stopped
  const since = () => (last === null ? 0 : Math.min(performance.now() - last, IDLE_MS));
  const settle = (next) => {
    total += since();
    last = next;
  };
  const timer = {
    start() {
      running.add(timer);
      settle(document.hidden ? null : performance.now());
    },
    stop() {
      running.delete(timer);
      settle(null);
    },
    alive: () => settle(performance.now()),
    pause: () => settle(null),
    total: () => Math.round(total + since()),
    reset() {
      total = 0;
    },
    restore(milliseconds) {
      total = Math.max(total, milliseconds);
    },
  };
  return timer;
}

for (const event of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
  document.addEventListener(event, () => document.hidden || running.forEach((timer) => timer.alive()), { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => {
  for (const timer of running) document.hidden ? timer.pause() : timer.alive();
});
