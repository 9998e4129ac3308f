import { useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Moment } from "../parts/moment.tsx";
import { Secret } from "../parts/secret.tsx";
import { useConsole } from "../state/console.ts";
import { lockedOutAt } from "../state/locked-out-at.ts";
import { useLoad } from "../state/use-load.ts";
import { useStore } from "../state/use-store.ts";
import type { Key } from "../wire/bodies.ts";
import { KeyForm } from "./key-form.tsx";
import { KeyRotation } from "./key-rotation.tsx";
import { type KeyDialog, KeyTable } from "./key-table.tsx";

/** The keys of the account: created, rotated with an overlap, revoked. */
export function KeysView() {
  const { api, session, now } = useConsole();
  const own = useStore(session.key) ?? "";
  const keys = useLoad((signal) => api.read<{ readonly data: readonly Key[] }>("/v1/account/keys", signal));
  const [secret, setSecret] = useState<{ readonly title: string; readonly value: string } | null>(null);
  const [dialog, setDialog] = useState<KeyDialog | null>(null);
  const listed = keys.state.status === "ready" ? keys.state.value.data : [];
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
            {({ data }) => <KeyTable keys={data} isOwn={isOwn} isOver={isOver} onOpen={setDialog} />}
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
      {dialog?.act === "rotate" ? (
        <KeyRotation
          entry={dialog.key}
          onClose={() => setDialog(null)}
          onRotated={(value) => {
            if (isOwn(dialog.key)) session.exchange(own, value);
            setSecret({ title: "The replacement key", value });
            keys.reload();
          }}
        />
      ) : null}
      {dialog?.act === "revoke" ? (
        <RevokeDialog
          entry={dialog.key}
          lastEndsAt={lockedOutAt(listed, dialog.key, now())}
          isOwn={isOwn(dialog.key)}
          onClose={() => setDialog(null)}
          onRevoked={keys.reload}
        />
      ) : null}
    </>
  );
}

function RevokeDialog({
  entry,
  lastEndsAt,
  isOwn,
  onClose,
  onRevoked,
}: {
  readonly entry: Key;
  /** When nothing can manage the account any longer without it; null where another key has no end. */
  readonly lastEndsAt: string | null;
  /** It is the key that this console is signed in with. */
  readonly isOwn: boolean;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}) {
  const { api, session } = useConsole();
  return (
    <Confirm
      title={`Revoke ${entry.name ?? entry.hint}?`}
      act="Revoke the key"
      onClose={onClose}
      onAct={async () => {
        const held = session.key.get();
        await api.remove(`/v1/account/keys/${entry.key_id}`);
        // By now somebody else may have signed in.
        if (isOwn && session.key.get() === held) session.leave();
        else onRevoked();
      }}
    >
      <p>Calls with it are refused from now on. This cannot be undone.</p>
      {lastEndsAt === null ? null : (
        <p>
          No other key with the scope account works without an end: the account is locked out on{" "}
          <Moment at={lastEndsAt} />, unless you create one before.
        </p>
      )}
      {isOwn ? <p>It is the key of this console: you will be signed out.</p> : null}
    </Confirm>
  );
}
