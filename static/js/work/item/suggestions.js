// What checkers suggest about an item's questions. The page holds no suggestion on a question that depends on another
// answer until that is given; once the question is asked, the server is asked for what is suggested, and the work goes on
// meanwhile.

import { keyOf } from "./questions.js";

const WAIT_MS = 4000; // what takes longer is not shown
const NONE = [];

export function createSuggestions({ item, questions: { groups, isConditional }, state, view }) {
  // The groups whose suggestions the page has, if there are any: at first, those that the stored answer is about.
  const known = new Set((item.payload.answers ?? []).map(({ unit, dimension }) => keyOf(unit, dimension)));
  const suggestionFor = (group) => item.suggestions.find((one) => one.unit === group.unit && one.dimension === group.dimension.slug);
  return {
    suggestionFor,
    /** Whether one of the suggestions is about a question that is asked now: the others are not shown yet. */
    hasSuggestion: () => groups.some((group) => state.isAsked(group) && suggestionFor(group)),
    /** When a suggestion was painted first, the last frame included; null where none was. */
    paintedAt() {
      view().lookAgain();
      return item.suggestionsShownAt;
    },
    /** Groups that are asked only after another answer, and are now: the suggestions about them are not here yet. */
    withheld: () => (isConditional ? groups.filter((group) => group.dimension.asked_when && state.isAsked(group) && !known.has(group.key)) : NONE),
    /** The answer after which such a group is asked. */
    condition({ unit, dimension }) {
      const { dimension: on } = dimension.asked_when;
      return { unit, dimension: on, label: state.now().labels[keyOf(unit, on)] };
    },
    /** Suggestions that came after the page: all that there are about the units' dimensions `about`, which were asked. */
    suggest(suggestions, about) {
      for (const { unit, dimension } of about) known.add(keyOf(unit, dimension));
      const isHeld = (one) => item.suggestions.some((held) => held.unit === one.unit && held.dimension === one.dimension);
      item.suggestions = [...item.suggestions, ...suggestions.filter((one) => !isHeld(one))];
      view().render();
    },
  };
}

/** Returns inquire(item), to be called when an item is shown or its answers have changed. `maySee(item)`: the person may
 * be shown suggestions on it now. */
export function createInquirer(server, maySee) {
  let last = null; // the item that was inquired about
  let withheld = []; // its groups that are asked now, and about which the page knows nothing

  return async function inquire(item) {
    if (!maySee(item)) return;
    const before = item === last ? withheld : [];
    last = item;
    withheld = item.withheld();
    if (withheld.every((group) => before.includes(group))) return; // no second time, until they are asked anew
    const groups = withheld;
    try {
      const { suggestions } = await server.suggestions(item.payload.assignment, groups.map(item.condition), WAIT_MS);
      item.suggest(suggestions, groups.map(({ unit, dimension }) => ({ unit, dimension: dimension.slug })));
    } catch {
      /* then there are none */
    }
  };
}
