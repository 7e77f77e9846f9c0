// The words that a text of the item shares with its first one (the claim, the question), lit where the person asks for it.
// Nothing in the page's texts is changed: the browser paints ranges of them.

import { gettext } from "../../words.js";

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LEAST = 2; // characters
// The commonest words of English say nothing about what two texts share.
const STOP_WORDS = new Set(("a about after all also an and any are as at be because been before being but by can could did do does for from had has have he her his how i if in "
  + "into is it its just may me more most my no not of on one only or other our out over s she should so some such t than that the their them then there these they this those "
  + "to under up us was we were what when where which who why will with would you your").split(" "));
const NAME = "shared-words";

const fold = (word) => word.normalize("NFKC").toLowerCase();
const isContent = (word) => (word.length >= LEAST || /\p{N}/u.test(word)) && !STOP_WORDS.has(word);
const wordsOf = (text) => new Set((text.match(WORD) ?? []).map(fold).filter(isContent));

const isForced = matchMedia("(forced-colors: active)"); // there a lit word has a background, which would hide a highlight's

function* textNodes(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!isForced.matches || !walker.currentNode.parentElement.closest("mark.chosen")) yield walker.currentNode;
}

/** Ranges of the words in all texts of an item that its first one and another one have. */
function sharedRanges({ texts }) {
  const [first, ...others] = [...texts.values()];
  const known = first ? wordsOf(first.text) : new Set();
  const shared = new Set();
  const places = [];
  for (const other of others) {
    for (const node of textNodes(other.shownElement())) {
      for (const found of node.data.matchAll(WORD)) {
        const word = fold(found[0]);
        if (!known.has(word)) continue;
        shared.add(word);
        places.push([node, found]);
      }
    }
  }
  if (first) for (const node of textNodes(first.shownElement())) for (const found of node.data.matchAll(WORD)) if (shared.has(fold(found[0]))) places.push([node, found]);
  return places.map(([node, { index, 0: word }]) => new StaticRange({ startContainer: node, startOffset: index, endContainer: node, endOffset: index + word.length }));
}

/** `settings` remembers what the person chose; `itemNow()` is on the screen, in `stage`. */
export function createShared(stage, itemNow, settings, announce) {
  const button = document.querySelector('[data-do="shared"]');
  const isAble = "highlights" in CSS && typeof Highlight === "function";
  const isOn = () => isAble && settings.get(NAME) === true;
  let wanted = 0;

  function show() {
    button.hidden = !isAble;
    button.setAttribute("aria-pressed", String(isOn()));
    if (!isAble) return;
    const item = itemNow();
    if (isOn() && item) CSS.highlights.set(NAME, new Highlight(...sharedRanges(item)));
    else CSS.highlights.delete(NAME);
  }

  // Marks divide the texts anew.
  new MutationObserver(() => {
    if (!isOn()) return;
    cancelAnimationFrame(wanted);
    wanted = requestAnimationFrame(show);
  }).observe(stage, { childList: true, subtree: true, attributeFilter: ["hidden"] });
  show();

  return function toggle() {
    if (!isAble) return;
    settings.set(NAME, !isOn());
    show();
    announce(isOn() ? gettext("Shared words are lit") : gettext("Shared words are not lit"));
  };
}
