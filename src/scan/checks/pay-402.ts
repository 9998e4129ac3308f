import { type Check, fail, pass, warn } from "../check.ts";
import { exchangesOf } from "../evidence.ts";

/** `pay.402`, a gate. */
export const pay402: Check = {
  id: "pay.402",
  title: "A paid resource asks to be paid",
  weight: 12,
  expected: "402 to an unpaid call by the declared method",
  fix: "Answer 402 before any other check of the request.",
  find(evidence) {
    const declared = exchangesOf(evidence, "resource");
    const paid = declared.find(({ status }) => status === 402);
    if (paid !== undefined) return pass(paid, "402");
    const other = exchangesOf(evidence, "resource_post").find(({ status }) => status === 402);
    if (other !== undefined) return warn(other, "402 by another method than the declared one alone");
    const [first] = declared;
    if (first === undefined) return fail(null, "no paid resource was found");
    return fail(first, first.status === null ? (first.failure ?? "no reply") : `${first.status}`);
  },
};
