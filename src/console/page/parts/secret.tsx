import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";

/** A secret that the server shows this once. */
export function Secret({
  title,
  value,
  onDone,
  done = "I have kept it",
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
      <p>It is shown this once. Keep it where nobody else reads it.</p>
      <div class="secret-value">
        <code>{value}</code>
        <CopyButton text={value} />
      </div>
      {children}
      <p>
        <button type="button" class="button primary" onClick={onDone}>
          {done}
        </button>
      </p>
    </div>
  );
}
