import { useState } from "preact/hooks";
import { DOCUMENT_TYPES, type DocumentType } from "../../../contract/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Choice } from "../parts/choice.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { DocumentResult } from "../wire/bodies.ts";
import { CheckFrame } from "./check-frame.tsx";
import { useCheck } from "./use-check.ts";

const TYPES: readonly (readonly [DocumentType | "auto", string])[] = [
  ["auto", "Detect"],
  ...DOCUMENT_TYPES.map((type) => [type, type === "card" ? "Card" : type.toUpperCase()] as const),
];

/** Checks one document. */
export function TryDocument() {
  const [type, setType] = useState<DocumentType | "auto">("auto");
  const [value, setValue] = useState("");
  const { checked, failure, isRunning, check } = useCheck<DocumentResult>();
  const validate = (event: Event) => {
    event.preventDefault();
    const call =
      type === "auto"
        ? { path: "/v1/identity/autodetect", body: { value } }
        : { path: "/v1/identity/validate", body: { type, value } };
    void check(call, ({ valid }) => (valid ? "Valid" : "Invalid"));
  };
  return (
    <div class="stack">
      <form class="stack ask" onSubmit={validate}>
        <div class="fields">
          <TextField
            label="Document number"
            value={value}
            onValue={setValue}
            placeholder="DE89 3704 0044 0532 0130 00"
            autocomplete="off"
            required
          />
          <Choice label="Type" value={type} options={TYPES} onValue={setType} />
        </div>
        <div class="row">
          <button type="submit" class="button primary" disabled={isRunning}>
            Validate
          </button>
        </div>
      </form>
      <Failure message={failure} />
      {checked === null ? null : (
        <CheckFrame checked={checked}>
          <Result result={checked.result} />
        </CheckFrame>
      )}
    </div>
  );
}

function Result({ result }: { readonly result: DocumentResult }) {
  const { type, valid, message, formatted, country, strength, warnings, candidates = [] } = result;
  const details = Object.entries(result.details ?? {}).map(
    ([name, value]) => [wordsOf(name), textOf(value)] as const,
  );
  return (
    <div class="stack">
      <div class="verdict">
        <Badge word={valid ? "valid" : "invalid"} />
        <code>{visible(result.value)}</code>
      </div>
      <p>
        {valid
          ? `A valid ${type === null ? "number" : type.toUpperCase()}.`
          : (message ?? "No known document has this shape.")}
      </p>
      <Facts
        facts={[
          ["Type", type === null ? "Unknown" : type.toUpperCase()],
          ["Written form", formatted],
          ["Country", country],
          ["Proved by", strength === null ? null : wordsOf(strength)],
          ["Warnings", warnings.map(wordsOf).join(", ")],
          ...(candidates.length > 1
            ? [
                [
                  "Could also be",
                  candidates
                    .slice(1)
                    .map((each) => each.type.toUpperCase())
                    .join(", "),
                ] as const,
              ]
            : []),
          ...details,
        ]}
      />
    </div>
  );
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
