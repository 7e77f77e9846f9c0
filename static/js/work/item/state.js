// What has been answered, and the way back. States are never changed in place: undo keeps the earlier ones, and what is
// the same object as before need not be shown anew.

const NONE = [];

/** `changed()` is called after every change by the person, and after one is taken back. */
export function createState({ groups, isConditional, isAsked }, changed) {
  let now = { labels: {}, spans: {}, words: "" }; // by group; words answer the free-text question, picks begin a ranking
  let past = [];
  let undone = []; // what can be done again
  let typed = null; // the key of the group whose number or text is being typed: all of it is one step back

  return {
    now: () => now,
    label: ({ key }) => now.labels[key],
    spans: ({ key }) => now.spans[key] ?? NONE,
    picks: ({ key }) => now.labels[key] ?? now.picks?.[key] ?? "",
    isAsked: (group) => isAsked(group, now.labels),
    withSpans: ({ key }, list) => ({ spans: { ...now.spans, [key]: list } }),
    /** Every change goes through here: remembered for undo, then shown. `next` holds what differs. */
    change(next, of = null) {
      if (of === null || of !== typed) past.push(now);
      typed = of;
      undone = [];
      now = { ...now, ...next };
      if (isConditional && groups.some((group) => group.key in now.labels && !isAsked(group, now.labels))) {
        now = { ...now, labels: { ...now.labels } };
        for (const group of groups) if (!isAsked(group, now.labels)) delete now.labels[group.key];
      }
      changed();
    },
    stopTyping() {
      typed = null;
    },
    /** In place of what was there; no step back leads to that. */
    replace(next) {
      now = next;
    },
    forgetPast() {
      past = [];
      undone = [];
    },
    /** One step back. Returns the state that it leaves; null when there is nothing to take back. */
    undo() {
      if (!past.length) return null;
      const left = now;
      undone.push(now);
      now = past.pop();
      return left;
    },
    /** One step forth again. Returns the state that it leaves; null when nothing was taken back. */
    redo() {
      if (!undone.length) return null;
      const left = now;
      past.push(now);
      now = undone.pop();
      return left;
    },
  };
}
