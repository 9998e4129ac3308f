import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";

/** A secret that the server shows this once. */
export function Secret({
  title,
  value,
  onDone,
  done = "I have saved it",
  children,
}: {
  readonly title: string;
  readonly value: string;
  readonly onDone: () => void;
  readonly done?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="secret" role="status">
      <h3>{title}</h3>
      <p>It is shown only once. Store it where nobody else can read it.</p>
      <div class="secret-value">
        <code>{value}</code>
        <CopyButton text={value} />
      </div>
      {children}
      <p>
        <Button look="primary" onPress={onDone}>
          {done}
        </Button>
      </p>
    </div>
  );
}
