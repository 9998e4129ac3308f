import { useState } from "preact/hooks";
import { useConsole } from "../state/console.ts";
import { Button } from "./button.tsx";

const SHOWN_MS = 2_000;

/** Copies a text. Where the browser forbids it, it says so. */
export function CopyButton({ text, name }: { readonly text: string; readonly name?: string }) {
  const { announcement } = useConsole();
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    const done = await navigator.clipboard.writeText(text).then(
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
