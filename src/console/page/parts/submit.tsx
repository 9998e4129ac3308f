import type { ComponentChildren } from "preact";
import type { Action } from "../state/use-action.ts";
import { Failure } from "./notice.tsx";

/** The end of a form: what went wrong in its action, and the button that begins it. */
export function Submit({
  of: { failure, isRunning },
  isOff = false,
  children,
}: {
  readonly of: Action;
  readonly isOff?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <Failure message={failure} />
      <button type="submit" class="button primary" disabled={isRunning || isOff}>
        {children}
      </button>
    </>
  );
}
