// What one item shows of its answers: chosen labels, suggestions, highlights in the texts and their chips, and which unit
// is meant. It reads the item's state and touches only what differs from the last time.

import { keyOf } from "../keyboard.js";
import { createChips, createMarks } from "./highlights.js";
import { CANNOT_JUDGE, chosenIn, isPicked, placeOf } from "./questions.js";
import { placeAnchors, showOnScale } from "./scale.js";
import { gettext } from "../../words.js";

const make = (tag, more) => Object.assign(document.createElement(tag), more);

/** `painted()` is called once a suggestion has been before the person's eyes: painted, and within the window. */
export function createView(item, painted) {
  const { node, payload, groups } = item;
  const shown = groups.map(() => ({}));
  const rows = new Map([...node.querySelectorAll("[data-unit-row]")].map((row) => [row.dataset.unitRow, row]));
  const marks = createMarks(item, rows);
  const renderChips = createChips(item, marks.point);
  const counted = node.querySelector("[data-counted]");
  // What shows a suggestion. The browser looks at it with each frame that it paints, never while the tab is hidden.
  const seen = new IntersectionObserver((found) => notice(found));

  function notice(found) {
    if (!found.some((one) => one.isIntersecting && one.intersectionRatio > 0)) return;
    seen.disconnect();
    painted();
  }

  function watch(elements) {
    if (!item.suggestionsShownAt) for (const element of elements) seen.observe(element);
  }

  placeAnchors(node);
  if (payload.has_unit_colours) {
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
    if (counted) counted.textContent = gettext("{n} of {total} labelled", { n: answered, total: asked });
  }

  function renderMarks() {
    marks.render();
    if (item.suggestions.length) watch(node.querySelectorAll("mark.suggested"));
  }

  function renderGroup(group, isAsked) {
    const last = shown[group.index];
    // A suggestion to a question that is not asked yet would give away the answer to the one before it.
    const suggestion = isAsked ? item.suggestionFor(group) : undefined;
    const now = { isAsked, label: item.label(group), spans: item.spansOf(group), suggestion, isOff: item.isOff(group), picks: group.picks.length ? item.picks(group) : "" };
    if (Object.keys(now).every((name) => last[name] === now[name])) return;
    shown[group.index] = now;
    group.box.disabled = !isAsked;
    group.box.toggleAttribute("data-answered", now.label !== undefined);
    for (const input of group.inputs) renderInput(input, group, now.label, now.picks);
    if (now.suggestion !== last.suggestion) watch(showSuggestion(item, group, now.suggestion));
    if (group.dimension.spans && (group.spans || now.spans.length)) renderChips(group, now);
  }

  function renderInput(input, { dimension }, answer, picks) {
    if ("cannotJudge" in input.dataset) return void (input.checked = answer === CANNOT_JUDGE);
    const label = answer === CANNOT_JUDGE ? undefined : answer;
    if ("text" in input.dataset) {
      if (input.value.trim() !== (label ?? "")) input.value = label ?? "";
    } else if ("number" in input.dataset) {
      // What is being typed may be the beginning of a number.
      const isOther = Number(input.value || NaN) !== Number(label);
      if (isOther && (label !== undefined || input !== document.activeElement)) input.value = label ?? "";
      if (input.type === "range") showOnScale(input, dimension, label);
    } else if ("pick" in input.dataset) {
      input.checked = isPicked(picks, input.value);
      input.closest(".choice").querySelector("[data-place]").textContent = placeOf(dimension, picks, input.value);
    } else {
      const isChosen = chosenIn(dimension, label).includes(input.value);
      if (input.checked !== isChosen) input.checked = isChosen;
    }
  }

  return {
    render,
    /** What the browser changed by itself. */
    again(group) {
      shown[group.index] = {};
      renderGroup(group, item.isAsked(group));
    },
    /** What the last frame showed and the observer has not reported yet. */
    lookAgain: () => notice(seen.takeRecords()),
    setCaret(next) {
      marks.setCaret(next);
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
    showOnlyCurrent() {
      const isOnly = marks.showOnlyCurrent();
      if (isOnly !== undefined) renderMarks();
      return isOnly;
    },
  };
}

/** Shows a group's suggestion, or none. Returns the elements that show it. */
function showSuggestion(item, group, suggestion) {
  const line = group.box.querySelector("[data-suggestion]");
  if (!line) return [];
  for (const input of group.inputs) input.closest(".choice")?.classList.toggle("is-suggested", chosenIn(group.dimension, suggestion?.label).includes(input.value));
  line.hidden = !suggestion;
  line.replaceChildren();
  if (!suggestion) return [];
  const score = typeof suggestion.score === "number" ? ` · ${suggestion.score.toFixed(2)}` : "";
  const accept = make("button", { type: "button", className: "small quiet" });
  accept.dataset.do = "accept";
  accept.append(`${gettext("Accept")} `, make("kbd", { textContent: keyOf("accept") }));
  const title = suggestion.title ?? item.titleOf(group, suggestion.label);
  line.replaceChildren(`${gettext("{checker} suggests", { checker: suggestion.checker })} `, make("b", { textContent: title }), score, " ", accept);
  if (suggestion.explanation) line.append(make("span", { className: "reasons", dir: "auto", textContent: suggestion.explanation }));
  return [line, ...group.box.querySelectorAll(".is-suggested")];
}
