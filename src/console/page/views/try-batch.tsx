import { useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { Shares } from "../charts/shares.tsx";
import { Badge } from "../parts/badge.tsx";
import { Choice } from "../parts/choice.tsx";
import { Field } from "../parts/field.tsx";
import { Table } from "../parts/table.tsx";
import { hrefOf } from "../state/route.ts";
import { countOf } from "../text/format.ts";
import { itemOf, statusOf, whyOf } from "../text/result-words.ts";
import type { Batch } from "../wire/bodies.ts";
import { CheckForm } from "./check-form.tsx";
import { useCheck } from "./use-check.ts";

type Kind = "email" | "identity" | "phone";

const KINDS: readonly (readonly [Kind, string])[] = [
  ["email", "Addresses"],
  ["identity", "Documents"],
  ["phone", "Phone numbers"],
];
/** Rows of a batch that are drawn; the reply has all of them. */
const ROWS_SHOWN = 200;

/** Checks a short list in one call. */
export function TryBatch() {
  const [kind, setKind] = useState<Kind>("email");
  const [text, setText] = useState("");
  const form = useCheck<Batch>();
  const items = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const send = () =>
    void form.check(callOf(kind, items), ({ count }) => `${countOf(count)} ${nounOf(count, "result")}`);
  return (
    <CheckForm
      of={form}
      act="Verify"
      isEmpty={items.length === 0}
      onSubmit={send}
      result={(batch) => <Result batch={batch} />}
    >
      <Choice label="What the lines are" value={kind} options={KINDS} onValue={setKind} />
      <Field
        label="One item on each line"
        hint={
          <>
            {countOf(items.length)} {nounOf(items.length, "item")}. For long lists use{" "}
            <a href={hrefOf("lists")}>Lists</a>.
          </>
        }
      >
        {(ids) => (
          <textarea
            {...ids}
            value={text}
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
    </CheckForm>
  );
}

function callOf(kind: Kind, items: readonly string[]) {
  if (kind === "email") return { path: "/v1/email/batch", body: { emails: items } };
  if (kind === "phone") return { path: "/v1/phone/batch", body: { phones: items } };
  return { path: "/v1/identity/batch", body: { items: items.map((value) => ({ value })) } };
}

function Result({ batch: { summary, results, count } }: { readonly batch: Batch }) {
  const { duplicates = 0, units_charged: _, ...words } = summary;
  const shown = results.slice(0, ROWS_SHOWN).map((result, at) => ({ result, at }));
  return (
    <div class="stack">
      <Shares
        title="Verdicts"
        shares={Object.entries(words).map(([word, number]) => ({ word, count: number }))}
      />
      {duplicates === 0 ? null : (
        <p class="muted">
          {countOf(duplicates)} {nounOf(duplicates, "duplicate")}, not charged.
        </p>
      )}
      <Table
        caption="Results"
        columns={[
          { head: "Item", cell: ({ result }) => <code class="name plain">{itemOf(result)}</code> },
          { head: "Verdict", cell: ({ result }) => <Badge word={statusOf(result)} /> },
          { head: "Cause", cell: ({ result }) => whyOf(result) },
        ]}
        rows={shown}
        keyOf={({ at }) => `${at}`}
      />
      {count <= ROWS_SHOWN ? null : (
        <p class="muted">
          The first {countOf(ROWS_SHOWN)} of {countOf(count)}.
        </p>
      )}
    </div>
  );
}
