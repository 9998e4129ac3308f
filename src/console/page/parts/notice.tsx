import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";

type Kind = "bad" | "warn" | "good" | "plain";

/** A message beside what it is about. What went wrong is read out at once. */
export function Notice({ kind, children }: { readonly kind: Kind; readonly children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** What went wrong in an action; nothing where nothing did. */
export function Failure({ message }: { readonly message: string | null }) {
  return message === null ? null : <Notice kind="bad">{message}</Notice>;
}

/** Why something could not be read, and a button that reads it again; nothing where it was read. */
export function FailedReading({
  message,
  onAgain,
}: {
  readonly message: string | null;
  readonly onAgain: () => void;
}) {
  if (message === null) return null;
  return (
    <Notice kind="bad">
      <span>{message}</span>
      <Button look="small" onPress={onAgain}>
        Try again
      </Button>
    </Notice>
  );
}
