import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Check } from "../parts/check.tsx";
import { Choice } from "../parts/choice.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { formOf, type ListForm, type ListKind, type Preview } from "../reading/messages.ts";
import { useList } from "../reading/use-list.ts";
import { useConsole } from "../state/console.ts";
import { bytesOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { ListCost } from "./list-cost.tsx";
import { ListPreview } from "./list-preview.tsx";

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
const TYPES: { readonly [form in ListForm]: string } = {
  csv: "text/csv",
  text: "text/plain",
  ndjson: "application/x-ndjson",
};

/** A chosen file: how it is read, what it holds, what it costs, and the start. */
export function ListStart({ file, onBack }: { readonly file: File; readonly onBack: () => void }) {
  const { uploads } = useConsole();
  const [kind, setKind] = useState<ListKind>("email");
  const [column, setColumn] = useState<number | null>(null);
  const [delimiter, setDelimiter] = useState<string | null>(null);
  const [encoding, setEncoding] = useState<string>("");
  const [name, setName] = useState(file.name.slice(0, 200));
  const [country, setCountry] = useState("");
  const [isDeep, setDeep] = useState(false);
  const [mayPause, setMayPause] = useState(false);
  const form = formOf(file.name);
  const { preview, share, counted, failure } = useList({
    file,
    kind,
    form,
    column,
    delimiter,
    encoding: encoding === "" ? null : encoding,
  });
  const chosen = column ?? preview?.column ?? null;
  const start = () => {
    const query = new URLSearchParams({ kind, name });
    if (form === "csv" && chosen !== null) query.set("column", `${chosen}`);
    if (form === "csv" && preview?.delimiter) query.set("delimiter", preview.delimiter);
    if (encoding !== "") query.set("encoding", encoding);
    if (kind === "email" && isDeep) query.set("deep", "true");
    if (kind === "phone" && country.trim() !== "") query.set("country", country.trim());
    if (mayPause) query.set("when_out_of_units", "pause");
    void uploads.begin({ file, contentType: TYPES[form], query });
  };
  return (
    <Card
      title={visible(file.name)}
      aside={
        <Button look="small" onPress={onBack}>
          Choose another file
        </Button>
      }
    >
      <p class="muted">{bytesOf(file.size)}. Nothing has been sent yet.</p>
      <div class="fields">
        <Choice label="What the rows are" value={kind} options={KINDS} onValue={setKind} />
        {form === "csv" && preview !== null ? (
          <CsvFields
            preview={preview}
            column={chosen}
            onColumn={setColumn}
            onDelimiter={(value) => {
              setColumn(null);
              setDelimiter(value);
            }}
          />
        ) : null}
        <Choice label="Encoding" value={encoding} options={ENCODINGS} onValue={setEncoding} />
        <TextField label="Name of the list" value={name} onValue={setName} maxLength={200} />
        {kind === "phone" ? (
          <TextField
            label="Country"
            value={country}
            onValue={setCountry}
            placeholder="BR or 55"
            hint="Of numbers without an international prefix."
          />
        ) : null}
      </div>
      <Failure message={failure} />
      {preview === null ? null : <ListPreview preview={preview} column={chosen} />}
      {preview !== null && chosen === null ? (
        <Notice kind="warn">No column stands out: choose the one with the items.</Notice>
      ) : null}
      <div class="stack">
        {kind === "email" ? (
          <Check checked={isDeep} onChecked={setDeep}>
            Look up SPF and DMARC, too (2 units a row)
          </Check>
        ) : null}
        <Check checked={mayPause} onChecked={setMayPause}>
          Start even if the units may not last: the list pauses at the last one and goes on when there are
          more
        </Check>
      </div>
      <ListCost
        share={share}
        counted={counted}
        unitsPerItem={kind === "email" && isDeep ? 2 : 1}
        mayPause={mayPause}
        isReady={chosen !== null && failure === null}
        onStart={start}
      />
    </Card>
  );
}

function CsvFields({
  preview,
  column,
  onColumn,
  onDelimiter,
}: {
  readonly preview: Preview;
  readonly column: number | null;
  readonly onColumn: (column: number | null) => void;
  readonly onDelimiter: (delimiter: string) => void;
}) {
  return (
    <>
      <Choice
        label="Column"
        value={`${column ?? ""}`}
        options={columnsOf(preview, column)}
        onValue={(value) => onColumn(value === "" ? null : Number(value))}
      />
      <Choice label="Delimiter" value={preview.delimiter ?? ","} options={DELIMITERS} onValue={onDelimiter} />
    </>
  );
}

function columnsOf({ columns }: Preview, chosen: number | null): readonly (readonly [string, string])[] {
  const named = columns.map(
    (name, at) => [`${at + 1}`, `${at + 1}: ${visible(name.trim()) || "(empty)"}`] as const,
  );
  return chosen === null ? [["", "Choose one"], ...named] : named;
}
