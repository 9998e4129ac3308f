import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { exchangesOf } from "../evidence.ts";

export const httpSemantics: Check = {
  id: "http.semantics",
  title: "HEAD answers as GET does",
  weight: 1,
  expected: "the status of GET, and no body",
  fix: "Answer HEAD as GET, without the body.",
  find(evidence) {
    const gets = exchangesOf(evidence, "resource").filter(
      ({ method, status }) => method === "GET" && status !== null,
    );
    const pairs = gets.flatMap((get) => {
      const head = exchangesOf(evidence, "resource_head").find(({ url }) => url === get.url);
      return head === undefined ? [] : [{ get, head }];
    });
    const [first] = pairs;
    if (first === undefined) return notApplicable("no paid resource is read by GET");
    const broken = pairs.find(({ head }) => head.status === null || head.status >= 500);
    if (broken !== undefined) return fail(broken.head, `HEAD ${broken.head.status ?? broken.head.failure}`);
    const other = pairs.find(({ get, head }) => head.status !== get.status);
    if (other !== undefined) return warn(other.head, `HEAD ${other.head.status}, GET ${other.get.status}`);
    return pass(first.head, `${first.head.status}`);
  },
};
