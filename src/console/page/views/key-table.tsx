import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Moment } from "../parts/moment.tsx";
import { Table } from "../parts/table.tsx";
import { wordsOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Key } from "../wire/bodies.ts";

/** The dialog that is open, and the key it is about. */
export type KeyDialog = { readonly act: "rotate" | "revoke"; readonly key: Key };

/** The keys of an account, with what can be done with each. */
export function KeyTable({
  keys,
  isOwn,
  isOver,
  onOpen,
}: {
  readonly keys: readonly Key[];
  readonly isOwn: (key: Key) => boolean;
  readonly isOver: (key: Key) => boolean;
  readonly onOpen: (dialog: KeyDialog) => void;
}) {
  return (
    <Table
      caption="Keys of the account"
      columns={[
        {
          head: "Name",
          cell: (key: Key) => (
            <span class="name">
              {visible(key.name ?? "Unnamed")} {isOwn(key) ? <Badge word="this console" /> : null}
            </span>
          ),
        },
        { head: "Key", cell: ({ hint }) => <code>{hint}</code> },
        { head: "Scopes", cell: ({ mode, scopes }) => `${wordsOf(mode)}: ${scopes.join(", ")}` },
        {
          head: "Last used",
          cell: ({ last_used_at }) => <Moment at={last_used_at} none="Never" />,
        },
        { head: "Expires", cell: (key) => <End entry={key} isOver={isOver(key)} /> },
        {
          head: "Actions",
          isActions: true,
          cell: (key) => (isOver(key) ? "–" : <KeyActions entry={key} onOpen={onOpen} />),
        },
      ]}
      rows={keys}
      keyOf={({ key_id }) => key_id}
    />
  );
}

function KeyActions({
  entry,
  onOpen,
}: {
  readonly entry: Key;
  readonly onOpen: (dialog: KeyDialog) => void;
}) {
  const name = entry.name ?? entry.hint;
  return (
    <span class="row">
      <Button look="small" label={`Rotate ${name}`} onPress={() => onOpen({ act: "rotate", key: entry })}>
        Rotate
      </Button>
      <Button
        look="small danger"
        label={`Revoke ${name}`}
        onPress={() => onOpen({ act: "revoke", key: entry })}
      >
        Revoke
      </Button>
    </span>
  );
}

function End({ entry, isOver }: { readonly entry: Key; readonly isOver: boolean }) {
  const { revoked_at, rotates_at, expires_at } = entry;
  if (revoked_at !== null) {
    return (
      <span class="over">
        <Badge word="revoked" /> <Moment at={revoked_at} />
      </span>
    );
  }
  const at = rotates_at ?? expires_at;
  if (at === null) return <>Never</>;
  return (
    <span class="over">
      {isOver ? (
        <Badge word="ended" tone="bad" />
      ) : rotates_at !== null ? (
        <Badge word="rotated" tone="warn" />
      ) : null}{" "}
      <Moment at={at} />
    </span>
  );
}
