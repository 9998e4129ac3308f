import type { ComponentChildren } from "preact";
import type { Loaded } from "../state/use-load.ts";
import { codeOf, messageOf } from "../wire/api.ts";
import { FailedReading } from "./notice.tsx";

/** Draws what was loaded, or that it loads, or why it did not: under `title` where what is loaded brings the heading. */
export function Await<Value>({
  of: { state, reload },
  children,
  lines = 3,
  title,
}: {
  readonly of: Loaded<Value>;
  readonly children: (value: Value) => ComponentChildren;
  readonly lines?: number;
  readonly title?: string;
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
  const why = <Failure error={state.error} reload={reload} />;
  if (title === undefined) return why;
  return (
    <>
      <div class="view-head">
        <h1>{title}</h1>
      </div>
      {why}
    </>
  );
}

function Failure({ error, reload }: { readonly error: unknown; readonly reload: () => void }) {
  const code = codeOf(error);
  if (code === "forbidden") return <p class="empty">This key may not see this. {messageOf(error)}</p>;
  // Asked again, the server would say the same.
  if (code === "not_found" || code === "gone") return <p class="empty">{messageOf(error)}</p>;
  return <FailedReading message={messageOf(error)} onAgain={reload} />;
}
