import { useState } from "preact/hooks";
import { SORT_FIELDS, type SortField } from "../../../contract/words.ts";
import { Choice } from "../parts/choice.tsx";
import { Form } from "../parts/form.tsx";
import { TextField } from "../parts/text-field.tsx";
import { wordsOf } from "../text/format.ts";

/** The fields of the search as they are typed; empty where they do not filter. */
type SearchFields = {
  readonly q: string;
  readonly min_score: string;
  readonly max_price_usd: string;
  readonly min_uptime: string;
  readonly payee: string;
  readonly sort: SortField;
};

export const ALL_LISTINGS: SearchFields = {
  q: "",
  min_score: "",
  max_price_usd: "",
  min_uptime: "",
  payee: "",
  sort: "score",
};

/** The form of a search. `onSearch` is called with its fields when it is sent. */
export function DirectorySearch({ onSearch }: { readonly onSearch: (fields: SearchFields) => void }) {
  const [fields, setFields] = useState(ALL_LISTINGS);
  const set = (part: Partial<SearchFields>) => setFields({ ...fields, ...part });
  const text = (name: Exclude<keyof SearchFields, "sort">) => ({
    value: fields[name],
    onValue: (value: string) => set({ [name]: value }),
  });
  return (
    <search>
      <Form class="fields" onSubmit={() => onSearch(fields)}>
        <TextField label="Search" type="search" {...text("q")} placeholder="weather" />
        <TextField label="Minimum score" type="number" min="0" max="100" {...text("min_score")} />
        <TextField
          label="Maximum price (USD)"
          inputMode="decimal"
          {...text("max_price_usd")}
          placeholder="0.05"
        />
        <TextField
          label="Minimum uptime (%)"
          type="number"
          min="0"
          max="100"
          step="any"
          {...text("min_uptime")}
        />
        <TextField label="Payee" {...text("payee")} placeholder="0x…" />
        <Choice
          label="Sort by"
          value={fields.sort}
          options={SORT_FIELDS.map((field) => [field, wordsOf(field)] as const)}
          onValue={(sort) => set({ sort })}
        />
        <button type="submit" class="button primary align-end">
          Search
        </button>
      </Form>
    </search>
  );
}

/** Returns the query of a page of listings. A cursor carries the search that it belongs to. */
export function queryOf({ min_uptime, ...fields }: SearchFields, cursor: string | undefined): string {
  const query = new URLSearchParams({ limit: "50" });
  if (cursor !== undefined) query.set("cursor", cursor);
  else {
    for (const [name, value] of Object.entries(fields))
      if (value.trim() !== "") query.set(name, value.trim());
    if (min_uptime.trim() !== "") query.set("min_uptime", `${Number(min_uptime) / 100}`);
  }
  return `${query}`;
}
