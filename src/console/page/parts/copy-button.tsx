import { useState } from "preact/hooks";
import { useConsole } from "../state/console.ts";
import { Button } from "./button.tsx";

const SHOWN_MS = 2_000;

/** Copies a text, or says that the browser forbids it. */
export function CopyButton({ text, name }: { readonly text: string; readonly name?: string }) {
  const { announcement } = useConsole();
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    const done = await write(text).then(
      () => "Copied",
      () => "Not allowed: copy it by hand",
    );
    announcement.set(done);
    setSaid(done);
    setTimeout(() => setSaid(null), SHOWN_MS);
  };
  return (
    <Button
      look="small"
      label={name === undefined || said !== null ? undefined : `Copy ${name}`}
      onPress={copy}
    >
      {said ?? "Copy"}
    </Button>
  );
}

/** Rejects where the browser forbids it, or has no clipboard: it has one on https and on localhost only. */
async function write(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
