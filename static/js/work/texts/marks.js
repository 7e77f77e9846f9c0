// The <mark> of a stretch of text: its classes, and the lines and tints of the numbered units that it belongs to.

const lanes = ["100% 0", "5px 3px", "2px 2px", "9px 2px"]; // dashes and gaps of the lines below, by aspect

/** The line and the tint of a numbered unit; both differ from unit to unit, the line's dashes as well. */
function look(number, lane, band, bands) {
  const colour = ((number - 1) % 20) + 1;
  const [dash, gap] = lanes[(number - 1) % lanes.length].split(" ");
  const line = `var(--aspect-${colour}-line)`;
  const tint = `var(--aspect-${colour})`;
  const bottom = `100% 2px no-repeat`;
  const stroke = gap === "0" ? `linear-gradient(${line} 0 0)` : `repeating-linear-gradient(90deg, ${line} 0 ${dash}, transparent ${dash} calc(${dash} + ${gap}))`;
  return {
    line: `${stroke} 0 calc(100% - ${lane * 3}px) / ${bottom}`,
    tint: `${tint} ${(band / bands) * 100}% ${((band + 1) / bands) * 100}%`,
  };
}

const LANES = 4;

function dress(mark, numbers, isTinted) {
  const looks = numbers.map((number, i) => look(number, i, i, numbers.length));
  const lines = looks.slice(0, LANES).map((one) => one.line);
  // Others' highlights are lines alone: the tint is what the reader chose.
  mark.style.background = [...lines, ...(isTinted ? [`linear-gradient(${looks.map((one) => one.tint).join(", ")})`] : mark.matches(".chosen") ? ["var(--mark)"] : [])].join(", ");
  mark.style.paddingBlockEnd = `${lines.length * 3 - 1}px`;
}

/** `layers` cover all of `content`. Returns {node, numbers}, where `numbers` is what its badge shows. */
export function makeMark(content, layers) {
  const node = document.createElement("mark");
  node.className = [...new Set(layers.map((layer) => layer.kind))].sort().join(" ");
  node.dataset.depth = Math.min(3, layers.filter((layer) => layer.kind === "chosen").length);
  const numbers = [...new Set(layers.filter((layer) => layer.number).map((layer) => layer.number))].sort((a, b) => a - b);
  if (numbers.length) {
    node.dataset.numbers = numbers.join(" ");
    const isTinted = layers.some((layer) => layer.kind === "chosen" && layer.number);
    if (isTinted || layers.some((layer) => layer.letter)) dress(node, numbers, isTinted);
  }
  node.append(content);
  const letters = [...new Set(layers.filter((layer) => layer.letter).map((layer) => layer.letter))].sort();
  // How grave an error is stands in words at its beginning, and no colour alone says it.
  const words = [...new Set(layers.filter((layer) => layer.word).map((layer) => layer.word))];
  return { node, numbers: [(letters.length ? letters : numbers).join("·"), ...words].filter(Boolean).join(" ") };
}
