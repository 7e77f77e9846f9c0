// Which question is current, and which unit the next highlight is about.

/** `moved(from, to)` is called when another group becomes current. */
export function createMoves({ groups, groupsOf, isOptional }, state, moved, render) {
  let current = 0;
  let latest = null; // the unit labelled just now, from which the page moved on by itself; null once another one is chosen

  return {
    current: () => groups[current],
    /** The page moved on from a group that was just labelled. Its next highlight is for that unit, unless it was marked before. */
    movedOn({ unit }) {
      const isMarked = groupsOf(unit).some((group) => state.spans(group).length);
      latest = unit === groups[current].unit || isMarked ? null : unit;
    },
    isLatest: (unit) => unit === latest,
    forgetLatest() {
      latest = null;
    },
    /** The person chose the current unit. */
    chose() {
      if (latest === null) return;
      latest = null;
      render();
    },
    /** The unit that the next highlight is about. */
    spanUnit: () => latest ?? groups[current].unit,
    /** Mark a group as the one that digits answer. Returns false when it is not asked. */
    setCurrent(group) {
      if (!group || !state.isAsked(group)) return false;
      if (current === group.index && group.box.classList.contains("is-current")) return true;
      const from = groups[current];
      current = group.index;
      moved(from, group);
      return true;
    },
    neighbour(direction) {
      for (let i = current + direction; i >= 0 && i < groups.length; i += direction) if (state.isAsked(groups[i])) return groups[i];
      return null;
    },
    /** The next group without an answer, from the current one on and around; null when there is none. */
    unanswered() {
      const isOpen = (group) => state.isAsked(group) && !isOptional(group, state.now().labels) && state.label(group) === undefined;
      return groups.slice(current + 1).find(isOpen) ?? groups.slice(0, current).find(isOpen) ?? null;
    },
  };
}
