import type { ComponentChildren } from "preact";
import { Form } from "../parts/form.tsx";
import { Failure } from "../parts/notice.tsx";
import { CheckFrame } from "./check-frame.tsx";
import type { Check } from "./use-check.ts";

/** Fields, the button that checks them, and the result below. */
export function CheckForm<Result>({
  of: { checked, failure, isRunning },
  act,
  isEmpty = false,
  beside,
  onSubmit,
  result,
  children,
}: {
  readonly of: Check<Result>;
  /** What the button says. */
  readonly act: string;
  /** Whether there is nothing to check yet. */
  readonly isEmpty?: boolean;
  /** What stands beside the button. */
  readonly beside?: ComponentChildren;
  readonly onSubmit: () => void;
  readonly result: (result: Result) => ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="stack">
      <Form class="stack ask" onSubmit={onSubmit}>
        {children}
        <div class="row">
          <button type="submit" class="button primary" disabled={isRunning || isEmpty}>
            {act}
          </button>
          {beside}
        </div>
      </Form>
      <Failure message={failure} />
      {checked === null ? null : <CheckFrame checked={checked}>{result(checked.result)}</CheckFrame>}
    </div>
  );
}
