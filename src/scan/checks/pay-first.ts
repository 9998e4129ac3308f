import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangesOf } from "../evidence.ts";

export const payFirst: Check = {
  id: "pay.first",
  title: "The challenge comes before any other check",
  weight: 6,
  expected: "402 to a POST without a body",
  fix: "Challenge before the request is validated, and never answer an unpaid call.",
  find(evidence) {
    const unpaid = [...exchangesOf(evidence, "resource"), ...exchangesOf(evidence, "resource_post")];
    const leak = unpaid.find(({ status }) => status !== null && status >= 200 && status < 300);
    if (leak !== undefined) return fail(leak, `${leak.status} without a payment`);
    const posts = unpaid.filter(({ method, status }) => method === "POST" && status !== null);
    const broken = posts.find(({ status }) => (status ?? 0) >= 500);
    // Only an answer that nobody paid for caps the grade.
    if (broken !== undefined) return { ...fail(broken, `${broken.status}`), isUncapped: true };
    const early = posts.find(({ status }) => status === 400 || status === 415 || status === 422);
    if (early !== undefined) return warn(early, `${early.status} before 402`);
    const paid = (posts.length > 0 ? posts : unpaid).find(({ status }) => status === 402);
    return paid === undefined ? notApplicable("no resource takes a POST") : pass(paid, "402");
  },
};
