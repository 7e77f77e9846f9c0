// The chips of a question's highlights: what is quoted, a way to its place, and a button that removes it.

const QUOTED = 500; // characters of a highlight that its chip repeats
const make = (tag, more) => Object.assign(document.createElement(tag), more);

/** `point(spans)` is called with the highlights that the pointer or the focus is at, or with none. Returns render(group, {spans, isOff}). */
export function createChips(item, point) {
  const chips = new WeakMap(); // span -> its chip

  /** In a list of many units a place for chips is made when a unit has its first highlight. */
  function chipList(group) {
    if (!group.spans) {
      group.spans = make("div", { className: "unit-spans" });
      const list = make("ul", { className: "chips" });
      list.dataset.chips = "";
      list.setAttribute("aria-label", `Highlights of number ${group.number}`);
      group.spans.append(list);
      group.box.after(group.spans);
    }
    return group.spans.querySelector("[data-chips]");
  }

  function makeChip(group, span) {
    const { text, title } = item.texts.get(span.field);
    const isWhole = item.isWhole(group, span);
    const quote = isWhole ? "all of it" : text.slice(span.start, span.end);
    const short = quote.length > QUOTED ? `${quote.slice(0, QUOTED)}…` : quote;
    const chip = make("li");
    const words = make("button", { type: "button", textContent: short, dir: "auto", className: "quote" });
    const remove = make("button", { type: "button", textContent: "×", className: "remove" });
    const own = item.ownLabels(group).findIndex((one) => one.value === span.label);
    const label = own < 0 ? "" : item.ownLabels(group)[own].title;
    if (label) {
      chip.style.setProperty("--own-line", `var(--aspect-${own + 1}-line)`);
      chip.append(make("span", { className: "place", textContent: label }));
    }
    if (item.spanFields(group).length > 1) {
      chip.append(make("span", { className: "place", textContent: title }));
      words.setAttribute("aria-description", title);
    }
    words.title = "Show it in the text";
    words.addEventListener("click", () => {
      const place = isWhole ? item.texts.get(span.field).element : item.texts.get(span.field).marks(span.start, span.end)[0];
      place?.scrollIntoView({ block: isWhole ? "nearest" : "center", behavior: "instant" });
    });
    remove.setAttribute("aria-label", `Remove the highlight: ${[label, isWhole ? title : ""].filter(Boolean).map((one) => `${one}, `).join("")}${short}`);
    remove.addEventListener("click", () => {
      const list = chip.parentElement;
      const index = [...list.children].indexOf(chip);
      item.removeSpan(group, span);
      (list.children[Math.min(index, list.children.length - 1)]?.querySelector(".remove") ?? group.box).focus();
    });
    for (const event of ["pointerenter", "focusin"]) chip.addEventListener(event, () => point([span]));
    for (const event of ["pointerleave", "focusout"]) chip.addEventListener(event, () => point([]));
    chip.append(words, remove);
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
