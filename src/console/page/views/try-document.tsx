import { useState } from "preact/hooks";
import { DOCUMENT_TYPES, type DocumentType } from "../../../contract/words.ts";
import { Choice } from "../parts/choice.tsx";
import { Facts } from "../parts/facts.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";
import type { DocumentResult } from "../wire/bodies.ts";
import { CheckForm } from "./check-form.tsx";
import { useCheck } from "./use-check.ts";
import { VerdictHead } from "./verdict-head.tsx";

const TYPES: readonly (readonly [DocumentType | "auto", string])[] = [
  ["auto", "Detect"],
  ...DOCUMENT_TYPES.map((type) => [type, type === "card" ? "Card" : type.toUpperCase()] as const),
];

/** Checks one document. */
export function TryDocument() {
  const [type, setType] = useState<DocumentType | "auto">("auto");
  const [value, setValue] = useState("");
  const form = useCheck<DocumentResult>();
  const validate = () => {
    const call =
      type === "auto"
        ? { path: "/v1/identity/autodetect", body: { value } }
        : { path: "/v1/identity/validate", body: { type, value } };
    void form.check(call, ({ valid }) => (valid ? "Valid" : "Invalid"));
  };
  return (
    <CheckForm of={form} act="Validate" onSubmit={validate} result={(result) => <Result result={result} />}>
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
    </CheckForm>
  );
}

function Result({ result }: { readonly result: DocumentResult }) {
  const { type, valid, message, formatted, country, strength, warnings, candidates = [] } = result;
  const details = Object.entries(result.details ?? {}).map(
    ([name, value]) => [wordsOf(name), textOf(value)] as const,
  );
  return (
    <div class="stack">
      <VerdictHead
        word={valid ? "valid" : "invalid"}
        item={result.value}
        sentence={
          valid
            ? `A valid ${type === null ? "number" : type.toUpperCase()}.`
            : (message ?? "No known document has this shape.")
        }
      />
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
