// What the mouse or the finger selects in the texts of an item.

/** What is selected inside one of `texts`, widened to words unless `byCharacter`; null when nothing is. */
export function selected(texts, byCharacter) {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const touched = texts.filter((text) => range.intersectsNode(text.element));
  const text = touched.find((candidate) => candidate.element.contains(selection.anchorNode)) ?? touched[0];
  if (!text) return null;
  const start = text.offsetOf(range.startContainer, range.startOffset);
  const end = text.offsetOf(range.endContainer, range.endOffset, true);
  const span = text.snap(start, end, byCharacter);
  return span && { text, ...span };
}

/**
 * Listens to drags of the mouse that begin in `stage`. `ended(byCharacter)` is called at once, and `work(byCharacter)` when
 * the browser has made the selection: before whatever comes next, which may answer the item.
 */
export function listenToDrags(stage, isSnapping, { ended, work }) {
  let pending = null;
  function finish() {
    if (pending === null) return;
    clearTimeout(pending.timer);
    const { byCharacter } = pending;
    pending = null;
    work(byCharacter);
  }

  for (const next of ["keydown", "pointerdown"]) document.addEventListener(next, finish, true);
  // A drag may end anywhere; where it began says whether it is one.
  let isDragging = false;
  document.addEventListener("pointerdown", (event) => {
    isDragging = event.pointerType === "mouse" && event.button === 0 && stage.contains(event.target) && !event.target.closest("button");
  }, true);
  document.addEventListener("pointerup", (event) => {
    if (!isDragging || event.button !== 0) return;
    isDragging = false;
    const byCharacter = event.shiftKey || event.altKey || !isSnapping();
    ended(byCharacter);
    pending = { byCharacter, timer: setTimeout(finish, 0) };
  });
}
