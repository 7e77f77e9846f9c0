// The labels that highlights have of their own and the severities of errors, where a question gives them some: which ones
// the next highlight gets.

// What is chosen -> its buttons, and what an item has of it.
const PARTS = {
  label: { data: "spanLabel", selector: "[data-span-label]", of: (item, group) => item.ownLabels(group) },
  severity: { data: "spanSeverity", selector: "[data-span-severity]", of: (item, group) => item.severities(group) },
};

/** Where a highlight's parts are chosen: "label" or "severity", and the value of a button; undefined of another element. */
export function partOf(button) {
  for (const [part, { data }] of Object.entries(PARTS)) if (data in button.dataset) return { part, value: button.dataset[data] };
  return undefined;
}

/** `show()` presses the buttons of what is chosen, for each question of the item that `itemNow()` gives. */
export function createSpanLabels(stage, itemNow) {
  const chosen = new Map(); // part and question -> what its next highlight gets, kept from item to item

  /** The label or the severity of a group's next highlight; undefined where they have none. */
  function partFor(part, group) {
    const known = PARTS[part].of(itemNow(), group);
    return known.find((one) => one.value === chosen.get(`${part} ${group.dimension.slug}`)) ?? known[0];
  }

  function show() {
    for (const [part, { of, selector }] of Object.entries(PARTS)) {
      for (const button of stage.querySelectorAll(selector)) {
        const group = itemNow().groups.find((one) => one.dimension.slug === button.dataset.of);
        const { value } = partOf(button);
        button.setAttribute("aria-pressed", String(partFor(part, group).value === value));
        const number = of(itemNow(), group).findIndex((one) => one.value === value);
        if (part === "label") button.style.setProperty("--own-line", `var(--aspect-${(number % 20) + 1}-line)`);
      }
    }
  }

  // Items are swapped whole, and the label stays from one to the next.
  new MutationObserver(() => itemNow() && show()).observe(stage, { childList: true });

  return {
    show,
    labelOf: (group) => partFor("label", group),
    severityOf: (group) => partFor("severity", group),
    choose(part, question, value) {
      chosen.set(`${part} ${question}`, value);
      show();
    },
    /** The label after the chosen one, or before it where `direction` is -1. */
    turn(group, direction) {
      const known = PARTS.label.of(itemNow(), group);
      if (!known.length) return undefined;
      const next = known.at((known.indexOf(partFor("label", group)) + direction + known.length) % known.length);
      this.choose("label", group.dimension.slug, next.value);
      return next;
    },
  };
}
