import { ClosingDialog } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { countOf, wordsOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { ResultRow } from "../wire/bodies.ts";

/** All that was found of one row. */
export function ResultDialog({
  result,
  onClose,
}: {
  readonly result: ResultRow;
  readonly onClose: () => void;
}) {
  const { row, ...fields } = result;
  return (
    <ClosingDialog title={`Row ${countOf(Number(row))}`} onClose={onClose}>
      <div class="dialog-facts">
        <Facts facts={Object.entries(fields).map(([name, value]) => [wordsOf(name), textOf(value)])} />
      </div>
    </ClosingDialog>
  );
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (Array.isArray(value)) return visible(value.join(", "));
  return visible(typeof value === "object" ? JSON.stringify(value) : String(value));
}
