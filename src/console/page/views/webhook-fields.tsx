import { WEBHOOK_EVENTS } from "../../../contract/words.ts";
import { CheckList } from "../parts/check-list.tsx";
import { TextField } from "../parts/text-field.tsx";

const EVENTS = WEBHOOK_EVENTS.map((name) => [name, <code key={name}>{name}</code>] as const);

/** Where the events of an endpoint are sent. */
export function UrlField({
  value,
  onValue,
}: {
  readonly value: string;
  readonly onValue: (value: string) => void;
}) {
  return (
    <TextField
      label="URL"
      type="url"
      value={value}
      onValue={onValue}
      placeholder="https://example.com/hooks/assay"
      required
      hint="https, with a public name."
    />
  );
}

/** Which events an endpoint receives. */
export function EventsField({
  chosen,
  onChosen,
}: {
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
}) {
  return <CheckList label="Events" options={EVENTS} chosen={chosen} onChosen={onChosen} isWide />;
}
