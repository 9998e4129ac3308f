import { Choice } from "../parts/choice.tsx";
import { TextField } from "../parts/text-field.tsx";
import type { ListKind, Preview } from "../reading/messages.ts";
import { visible } from "../text/visible.ts";

/** How a chosen file is read, and what becomes of its rows. */
export type ListSettings = {
  readonly kind: ListKind;
  /** From 1; null where it is detected. */
  readonly column: number | null;
  /** Null where it is detected. */
  readonly delimiter: string | null;
  /** Empty where it is detected. */
  readonly encoding: string;
  readonly name: string;
  readonly country: string;
  readonly isDeep: boolean;
  readonly mayPause: boolean;
};

const KINDS: readonly (readonly [ListKind, string])[] = [
  ["email", "Addresses"],
  ["identity", "Documents"],
  ["phone", "Phone numbers"],
];
const DELIMITERS: readonly (readonly [string, string])[] = [
  [",", "Comma"],
  [";", "Semicolon"],
  ["\t", "Tab"],
  ["|", "Pipe"],
];
const ENCODINGS: readonly (readonly [string, string])[] = [
  ["", "Detect"],
  ["utf-8", "UTF-8"],
  ["windows-1252", "Windows-1252"],
  ["iso-8859-15", "ISO 8859-15"],
  ["utf-16le", "UTF-16"],
];

type FieldsProps = {
  readonly settings: ListSettings;
  readonly onChange: (changed: Partial<ListSettings>) => void;
};

/** The fields that say how the file is read. */
export function ListFields({
  settings: { kind, encoding, name, country },
  onChange,
  preview,
  column,
}: FieldsProps & {
  readonly preview: Preview | null;
  /** The column of the items, chosen or detected. */
  readonly column: number | null;
}) {
  return (
    <div class="fields">
      <Choice
        label="What the rows are"
        value={kind}
        options={KINDS}
        onValue={(value) => onChange({ kind: value })}
      />
      {preview?.form === "csv" ? <CsvFields preview={preview} column={column} onChange={onChange} /> : null}
      <Choice
        label="Encoding"
        value={encoding}
        options={ENCODINGS}
        onValue={(value) => onChange({ encoding: value })}
      />
      <TextField
        label="Name of the list"
        value={name}
        onValue={(value) => onChange({ name: value })}
        maxLength={200}
      />
      {kind === "phone" ? (
        <TextField
          label="Country"
          value={country}
          onValue={(value) => onChange({ country: value })}
          placeholder="BR or 55"
          hint="Of numbers without an international prefix."
        />
      ) : null}
    </div>
  );
}

function CsvFields({
  preview,
  column,
  onChange,
}: Pick<FieldsProps, "onChange"> & { readonly preview: Preview; readonly column: number | null }) {
  return (
    <>
      <Choice
        label="Column"
        value={`${column ?? ""}`}
        options={columnsOf(preview, column)}
        onValue={(value) => onChange({ column: value === "" ? null : Number(value) })}
      />
      <Choice
        label="Delimiter"
        value={preview.delimiter ?? ","}
        options={DELIMITERS}
        onValue={(delimiter) => onChange({ delimiter, column: null })}
      />
    </>
  );
}

function columnsOf({ columns }: Preview, chosen: number | null): readonly (readonly [string, string])[] {
  const named = columns.map(
    (name, at) => [`${at + 1}`, `${at + 1}: ${visible(name.trim()) || "(empty)"}`] as const,
  );
  return chosen === null ? [["", "Choose one"], ...named] : named;
}
