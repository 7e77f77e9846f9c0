// The way back: what this person answered, in the order in which it was stored, as far as it goes. The server knows it;
// the page holds the last ones, asks for older ones as somebody goes back, and adds what is answered meanwhile.

const KEPT_ITEMS = 20;

/** `recent` are the assignments that were answered last, oldest first; `hasOlder` says whether there are more;
 * `answered` is how many there are. */
export function createTrail(server, recent, hasOlder, answered) {
  const pages = new Map(); // of some of them, as they stand
  let trail = [...recent];
  let oldest = recent[0]; // that the server has named
  let before = Math.max(0, answered - recent.length); // how many are older than those here
  return {
    keep(assignment, item) {
      pages.delete(assignment);
      pages.set(assignment, item);
      if (pages.size > KEPT_ITEMS) pages.delete(pages.keys().next().value);
    },
    page: (assignment) => pages.get(assignment),
    /** It is asked for again when somebody looks at it. */
    drop: (assignment) => pages.delete(assignment),
    at: (index) => trail[index],
    indexOf: (assignment) => trail.indexOf(assignment),
    length: () => trail.length,
    hasOlder: () => hasOlder,
    /** The place of an item among those that this person answered; after them where it is not one of these. */
    numberOf: (assignment) => before + (trail.includes(assignment) ? trail.indexOf(assignment) : trail.length) + 1,
    add(assignment) {
      if (!trail.includes(assignment)) trail.push(assignment);
    },
    forget(assignment) {
      trail = trail.filter((other) => other !== assignment);
    },
    /** Fetches those before the oldest one. Throws where the server cannot be asked. */
    async fetchOlder() {
      const { assignments, has_older: more } = await server.answered(oldest);
      hasOlder = more;
      oldest = assignments[0] ?? oldest;
      const added = assignments.filter((assignment) => !trail.includes(assignment));
      trail = [...added, ...trail];
      before = Math.max(0, before - added.length);
    },
  };
}
