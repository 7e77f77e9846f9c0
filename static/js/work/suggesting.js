// Suggestions about questions that are asked only after another answer. The page holds none of them before that; once such
// a question is asked, the server is asked for what is suggested, and the work goes on meanwhile.

const WAIT_MS = 4000; // what takes longer is not shown

/** Returns inquire(item), to be called when an item is shown or its answers have changed. `maySee(item)`: the person may
 * be shown suggestions on it now. */
export function createInquirer(server, maySee) {
  let last = null; // the item that was inquired about
  let withheld = []; // its groups that are asked now, and about which the page was told nothing

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
