// Keys typed while the page waits for a reply: they are kept, and pressed once there is something that they can act on.

import { afterPaint } from "./shell.js";

export function createTypeAhead(isWaiting) {
  let kept = [];

  return {
    /** Whether the key was kept: a letter, a digit, a sign or Enter. */
    keeps({ key, code, shiftKey, ctrlKey, metaKey, altKey, repeat }) {
      if (!(isWaiting() || kept.length) || ctrlKey || metaKey || altKey) return false;
      if (key !== "Enter" && key.length !== 1) return false;
      if (!repeat) kept.push({ key, code, shiftKey });
      return true;
    },
    /** Presses them, on an item that has been painted. `isOther`: not the one on the screen when they were typed. There an
     * Enter that comes first was meant for the item before: pressed twice, it must not answer what nobody has seen. */
    press(isOther) {
      if (kept.length) afterPaint(() => {
        const keys = kept;
        kept = [];
        while (isOther && keys[0]?.key === "Enter") keys.shift();
        for (const key of keys) (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }));
      });
    },
    drop() {
      kept = [];
    },
  };
}
