import { useState } from "preact/hooks";
import { Choice } from "../parts/choice.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { useConsole } from "../state/console.ts";
import type { Key, RotatedKey } from "../wire/bodies.ts";

const OVERLAPS = [
  ["0", "At once"],
  ["3600", "After an hour"],
  ["86400", "After a day"],
  ["604800", "After a week"],
] as const;

/** Exchanges a key; both work until the overlap is over. */
export function KeyRotation({
  entry,
  onRotated,
  onClose,
}: {
  readonly entry: Key;
  readonly onRotated: (key: string) => void;
  readonly onClose: () => void;
}) {
  const { api } = useConsole();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number][0]>("86400");
  return (
    <Confirm
      title={`Rotate ${entry.name ?? entry.hint}`}
      act="Rotate the key"
      isDangerous={false}
      onClose={onClose}
      onAct={async () => {
        const { api_key } = await api.send<RotatedKey>("POST", `/v1/account/keys/${entry.key_id}/rotate`, {
          overlap_seconds: Number(overlap),
        });
        onRotated(api_key);
      }}
    >
      <p>A new key with the same name and scopes takes its place. Until the old one expires, both work.</p>
      <Choice label="The old key expires" value={overlap} options={OVERLAPS} onValue={setOverlap} />
    </Confirm>
  );
}
