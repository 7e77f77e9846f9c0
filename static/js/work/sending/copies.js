// Answers that are not stored, for a person who keeps a copy of them.

import { copy, STAYS } from "../shell.js";
import { gettext } from "../../words.js";

/** As they would be sent. */
const textOf = (entries) => JSON.stringify(entries.map(({ kind, assignment, body, refusal }) => ({ kind, assignment, ...body, ...(refusal ? { refused: refusal.message } : {}) })), null, 2);

/** Buttons that copy answers, or store them as a file. */
export function waysToKeep(entries) {
  return [
    [gettext("Copy them"), (button) => {
      copy(textOf(entries()), button);
      return STAYS;
    }],
    [gettext("Save them as a file"), () => {
      const link = Object.assign(document.createElement("a"), { download: "answers.json", href: URL.createObjectURL(new Blob([textOf(entries())], { type: "application/json" })) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      return STAYS;
    }],
  ];
}
