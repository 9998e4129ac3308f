import { type Check, fail, pass, warn } from "../check.ts";
import { exchangeOf, jsonOf } from "../evidence.ts";

export const discAgent: Check = {
  id: "disc.agent",
  title: "An agent card or API catalogue is there",
  weight: 1,
  expected: "valid JSON with a JSON content type at /.well-known/agent-card.json or /.well-known/api-catalog",
  fix: "Serve /.well-known/api-catalog as application/linkset+json.",
  find(evidence) {
    const files = [exchangeOf(evidence, "agent_card"), exchangeOf(evidence, "api_catalog")];
    const found = files.filter((file) => file?.status === 200 && jsonOf(file) !== null);
    const good = found.find((file) => /json/i.test(file?.headers["content-type"] ?? ""));
    if (good !== undefined) return pass(good, good?.url ?? "");
    const [first] = found;
    return first === undefined ? fail(files[0] ?? null, "none") : warn(first, "not served as JSON");
  },
};
