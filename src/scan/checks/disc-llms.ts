import { type Check, fail, pass, warn } from "../check.ts";
import { exchangeOf } from "../evidence.ts";

export const discLlms: Check = {
  id: "disc.llms",
  title: "/llms.txt lists for agents what there is",
  weight: 1,
  expected: "text with a heading and links",
  fix: "Serve /llms.txt: a heading, what the service does, and links to its documents.",
  find(evidence) {
    const file = exchangeOf(evidence, "llms");
    if (file === null || file.status !== 200 || /^\s*<(!doctype|html)/i.test(file.body))
      return fail(file, "absent or HTML");
    const hasHeading = /^#\s+\S/m.test(file.body);
    // Bounded quantifiers: a file of brackets must not take quadratic time.
    const hasLinks = /\[[^[\]]{1,300}\]\([^()]{1,2000}\)|https?:\/\//.test(file.body);
    return hasHeading && hasLinks ? pass(file, "a heading and links") : warn(file, "thin");
  },
};
