// The labels that highlights have of their own, where a question gives them some: which one the next highlight gets.

/** `show()` presses the button of that label, for each question of the item that `itemNow()` gives. */
export function createSpanLabels(stage, itemNow) {
  const chosen = new Map(); // question -> the label that its next highlight gets, kept from item to item

  /** The label of a group's next highlight; undefined where they have none. */
  function labelOf(group) {
    const own = itemNow().ownLabels(group);
    return own.find((one) => one.value === chosen.get(group.dimension.slug)) ?? own[0];
  }

  function show() {
    for (const button of stage.querySelectorAll("[data-span-label]")) {
      const group = itemNow().groups.find((one) => one.dimension.slug === button.dataset.of);
      const number = itemNow().ownLabels(group).findIndex((one) => one.value === button.dataset.spanLabel) + 1;
      button.setAttribute("aria-pressed", String(labelOf(group).value === button.dataset.spanLabel));
      button.style.setProperty("--own-line", `var(--aspect-${number}-line)`);
    }
  }

  // Items are swapped whole, and the label stays from one to the next.
  new MutationObserver(() => itemNow() && show()).observe(stage, { childList: true });

  return {
    labelOf, show,
    choose(question, label) {
      chosen.set(question, label);
      show();
    },
  };
}
