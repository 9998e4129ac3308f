import { type TSchema, Type } from "@sinclair/typebox";
import { count } from "../reply-schema.ts";

/** The fields of a summary that are the same for every kind of item. */
export const batchCost = {
  duplicates: count("Items that repeat an earlier one of the batch: not charged again."),
  units_charged: count("What the batch cost."),
};

/** How many results of a batch are valid, and what it cost: of documents and of phone numbers. */
export const ValidSummary = Type.Object(
  { valid: count("Results that are valid."), invalid: count("Results that are not."), ...batchCost },
  { $id: "ValidSummary" },
);

/** Returns the schema of a batch's reply; `remark` ends what is said of its results. */
export function batchOf<Result extends TSchema, Summary extends TSchema>(
  $id: string,
  result: Result,
  summary: Summary,
  remark = "",
) {
  const description = `One for each item, in the order of the request.${remark}`;
  const results = Type.Array(result, { description });
  return Type.Object({ count: count("Items in the batch."), results, summary }, { $id });
}
