import { useState } from "preact/hooks";
import type { InputFormat } from "../../../tables/input-format.ts";
import { listNameOf } from "../../../tables/list-name.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Check } from "../parts/check.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import type { Preview } from "../reading/messages.ts";
import { useList } from "../reading/use-list.ts";
import { useConsole } from "../state/console.ts";
import { bytesOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import { ListCost } from "./list-cost.tsx";
import { ListFields, type ListSettings } from "./list-fields.tsx";
import { ListPreview } from "./list-preview.tsx";

const TYPES: { readonly [form in InputFormat]: string } = {
  csv: "text/csv",
  text: "text/plain",
  ndjson: "application/x-ndjson",
};
const DETECTED = {
  kind: "email",
  column: null,
  delimiter: null,
  encoding: "",
  country: "",
  isDeep: false,
  mayPause: false,
} as const;

/** A chosen file: how it is read, what it contains, what it costs, and the start. */
export function ListStart({ file, onBack }: { readonly file: File; readonly onBack: () => void }) {
  const { uploads } = useConsole();
  const [settings, setSettings] = useState<ListSettings>({ ...DETECTED, name: listNameOf(file.name) });
  const change = (changed: Partial<ListSettings>) => setSettings((held) => ({ ...held, ...changed }));
  const { kind, encoding, isDeep, mayPause } = settings;
  const { preview, share, counted, failure } = useList({
    file,
    kind,
    column: settings.column,
    delimiter: settings.delimiter,
    encoding: encoding === "" ? null : encoding,
  });
  const column = settings.column ?? preview?.column ?? null;
  const start = () => {
    if (preview === null) return;
    const { form, delimiter } = preview;
    const query = jobQuery(settings, { form, column, delimiter });
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
      <ListFields settings={settings} onChange={change} preview={preview} column={column} />
      <Failure message={failure} />
      {preview === null ? null : <ListPreview preview={preview} column={column} />}
      {preview !== null && column === null ? (
        <Notice kind="warn">No column stands out: choose the one with the items.</Notice>
      ) : null}
      <div class="stack">
        {kind === "email" ? (
          <Check checked={isDeep} onChecked={(checked) => change({ isDeep: checked })}>
            Look up SPF and DMARC, too (2 units a row)
          </Check>
        ) : null}
        <Check checked={mayPause} onChecked={(checked) => change({ mayPause: checked })}>
          Start even if the units may not last: the list pauses at the last one and goes on when there are
          more
        </Check>
      </div>
      {failure === null ? (
        <ListCost
          share={share}
          counted={counted}
          unitsPerItem={kind === "email" && isDeep ? 2 : 1}
          mayPause={mayPause}
          isReady={column !== null}
          onStart={start}
        />
      ) : null}
    </Card>
  );
}

/** Returns the query of the call that creates the job. */
function jobQuery(
  { kind, name, encoding, country, isDeep, mayPause }: ListSettings,
  { form, column, delimiter }: Pick<Preview, "form" | "column" | "delimiter">,
): URLSearchParams {
  const query = new URLSearchParams({ kind, name });
  if (form === "csv" && column !== null) query.set("column", `${column}`);
  if (form === "csv" && delimiter) query.set("delimiter", delimiter);
  if (encoding !== "") query.set("encoding", encoding);
  if (kind === "email" && isDeep) query.set("deep", "true");
  if (kind === "phone" && country.trim() !== "") query.set("country", country.trim());
  if (mayPause) query.set("when_out_of_units", "pause");
  return query;
}
