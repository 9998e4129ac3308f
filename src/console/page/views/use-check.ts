import { useEffect, useRef, useState } from "preact/hooks";
import { useConsole } from "../state/console.ts";
import { type Action, useAction } from "../state/use-action.ts";

export type Call = { readonly path: string; readonly body: { readonly [name: string]: unknown } };
export type Checked<Result> = { readonly call: Call; readonly result: Result; readonly units: number };

export type Check<Result> = Action & {
  readonly checked: Checked<Result> | null;
  readonly check: (call: Call, summary: (result: Result) => string) => Promise<void>;
};

/** Makes a call of a check and keeps its result with what it cost. */
export function useCheck<Result>(): Check<Result> {
  const { api, announcement } = useConsole();
  const action = useAction();
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  const [checked, setChecked] = useState<Checked<Result> | null>(null);
  return {
    ...action,
    checked,
    check: (call, summary) =>
      action.run(async () => {
        const reply = await api.open(call.path, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(call.body),
        });
        const result: Result = await reply.json();
        const units = Number(reply.headers.get("X-Units-Charged") ?? 0);
        setChecked({ call, result, units });
        // Behind a sign-out it would be read out to the next visitor.
        if (!isGone.current) announcement.set(summary(result));
      }),
  };
}
