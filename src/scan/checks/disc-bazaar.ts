import { isObject } from "../../platform/json-value.ts";
import { challengePerResource } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { schemaFault } from "../json-schema.ts";

export const discBazaar: Check = {
  id: "disc.bazaar",
  title: "The challenge describes input and output",
  weight: 3,
  expected: "extensions.bazaar with info and the schema that it fits",
  fix: "Declare the bazaar extension with info and schema in the challenge.",
  find(evidence) {
    const [first] = challengePerResource(evidence);
    if (first === undefined) return notApplicable("no challenge was seen");
    const extensions = isObject(first.header) ? first.header.extensions : undefined;
    const bazaar = isObject(extensions) ? extensions.bazaar : undefined;
    if (!isObject(bazaar) || !isObject(bazaar.info)) return fail(first.exchange, "no extensions.bazaar");
    const { info, schema } = bazaar;
    if (!isObject(schema)) return warn(first.exchange, "info without schema");
    const fault = schemaFault(info, schema);
    return fault === null ? pass(first.exchange, "info and schema") : fail(first.exchange, fault);
  },
};
