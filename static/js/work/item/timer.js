// Active time: while the page is visible and in use; a pause counts for 60 seconds at most.

const IDLE_MS = 60000;
const running = new Set();

export function createTimer() {
  let total = 0;
  let last = null; // the latest sign of life; null while stopped
  const since = () => (last === null ? 0 : Math.min(performance.now() - last, IDLE_MS));
  const count = (next) => {
    total += since();
    last = next;
  };
  const timer = {
    start() {
      running.add(timer);
      count(document.hidden ? null : performance.now());
    },
    stop() {
      running.delete(timer);
      count(null);
    },
    alive: () => count(performance.now()),
    pause: () => count(null),
    total: () => Math.round(total + since()),
    reset() {
      total = 0;
    },
    restore(milliseconds) {
      total = Math.max(total, milliseconds);
    },
  };
  return timer;
}

for (const event of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
  document.addEventListener(event, () => document.hidden || running.forEach((timer) => timer.alive()), { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => {
  for (const timer of running) document.hidden ? timer.pause() : timer.alive();
});
