import { useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Moment } from "../parts/moment.tsx";
import { Secret } from "../parts/secret.tsx";
import { Table } from "../parts/table.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { useStore } from "../state/use-store.ts";
import { wordsOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Key } from "../wire/bodies.ts";
import { KeyForm } from "./key-form.tsx";
import { KeyRotation } from "./key-rotation.tsx";

type Asked = { readonly act: "rotate" | "revoke"; readonly key: Key };

/** The keys of the account: made, exchanged with an overlap, revoked. */
export function KeysView() {
  const { api, session, now } = useConsole();
  const own = useStore(session.key) ?? "";
  const keys = useLoad((signal) => api.read<{ readonly data: readonly Key[] }>("/v1/account/keys", signal));
  const [secret, setSecret] = useState<{ readonly title: string; readonly value: string } | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const isOwn = ({ hint }: Key) => hint.slice(-4) === own.slice(-4);
  const isOver = ({ revoked_at, expires_at }: Key) =>
    revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= now());
  return (
    <>
      <div class="view-head">
        <h1>Keys</h1>
      </div>
      <div class="stack">
        {secret === null ? null : (
          <Secret title={secret.title} value={secret.value} onDone={() => setSecret(null)} />
        )}
        <Card title="Your keys">
          <Await of={keys} lines={5}>
            {({ data }) => <KeyTable keys={data} isOwn={isOwn} isOver={isOver} onAsk={setAsked} />}
          </Await>
        </Card>
        <Card title="Create a key">
          <KeyForm
            onCreated={({ api_key, name }) => {
              setSecret({ title: name === null ? "The new key" : `The new key ${name}`, value: api_key });
              keys.reload();
            }}
          />
        </Card>
      </div>
      {asked?.act === "rotate" ? (
        <KeyRotation
          entry={asked.key}
          onClose={() => setAsked(null)}
          onRotated={(value) => {
            if (isOwn(asked.key)) session.enter(value);
            setSecret({ title: "The replacement key", value });
            keys.reload();
          }}
        />
      ) : null}
      {asked?.act === "revoke" ? (
        <Confirm
          title={`Revoke ${asked.key.name ?? asked.key.hint}?`}
          act="Revoke the key"
          onClose={() => setAsked(null)}
          onAct={async () => {
            await api.remove(`/v1/account/keys/${asked.key.key_id}`);
            if (isOwn(asked.key)) session.leave();
            else keys.reload();
          }}
        >
          <p>Calls with it are refused from now on. This cannot be undone.</p>
          {isOwn(asked.key) ? <p>It is the key of this console: you will be signed out.</p> : null}
        </Confirm>
      ) : null}
    </>
  );
}

function KeyTable({
  keys,
  isOwn,
  isOver,
  onAsk,
}: {
  readonly keys: readonly Key[];
  readonly isOwn: (key: Key) => boolean;
  readonly isOver: (key: Key) => boolean;
  readonly onAsk: (asked: Asked) => void;
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
          cell: (key) =>
            isOver(key) ? (
              "–"
            ) : (
              <span class="row">
                <Button
                  look="small"
                  label={`Rotate ${key.name ?? key.hint}`}
                  onPress={() => onAsk({ act: "rotate", key })}
                >
                  Rotate
                </Button>
                <Button
                  look="small danger"
                  label={`Revoke ${key.name ?? key.hint}`}
                  onPress={() => onAsk({ act: "revoke", key })}
                >
                  Revoke
                </Button>
              </span>
            ),
        },
      ]}
      rows={keys}
      keyOf={({ key_id }) => key_id}
    />
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
