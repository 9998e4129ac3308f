import type { ComponentChildren } from "preact";
import type { Loaded } from "../state/use-load.ts";
import { codeOf, messageOf } from "../wire/api.ts";
import { Button } from "./button.tsx";

/** Draws what was loaded, or that it loads, or why it did not. */
export function Await<Value>({
  of: { state, reload },
  children,
  lines = 3,
}: {
  readonly of: Loaded<Value>;
  readonly children: (value: Value) => ComponentChildren;
  readonly lines?: number;
}) {
  if (state.status === "ready") return <>{children(state.value)}</>;
  if (state.status === "loading") {
    return (
      <div class="skeleton" role="status">
        <span class="unseen">Loading</span>
        {Array.from({ length: lines }, (_, at) => (
          <i key={at} />
        ))}
      </div>
    );
  }
  const code = codeOf(state.error);
  if (code === "forbidden") return <p class="empty">This key may not see this. {messageOf(state.error)}</p>;
  // Asked again, the server would say the same.
  if (code === "not_found" || code === "gone") return <p class="empty">{messageOf(state.error)}</p>;
  return (
    <div class="notice bad" role="alert">
      <span>{messageOf(state.error)}</span>
      <Button look="small" onPress={reload}>
        Try again
      </Button>
    </div>
  );
}
