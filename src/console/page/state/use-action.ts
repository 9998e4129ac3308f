import { useState } from "preact/hooks";
import { messageOf } from "../wire/api.ts";

export type Action = {
  readonly isRunning: boolean;
  /** What went wrong in the last run; null where nothing did. */
  readonly failure: string | null;
  readonly run: (work: () => Promise<void>) => Promise<void>;
  readonly fail: (message: string | null) => void;
};

/** Runs the action of a button or a form, one at a time, and keeps its failure. */
export function useAction(): Action {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  return {
    isRunning,
    failure,
    fail: setFailure,
    async run(work) {
      if (isRunning) return;
      setRunning(true);
      setFailure(null);
      try {
        await work();
      } catch (error) {
        setFailure(messageOf(error));
      } finally {
        setRunning(false);
      }
    },
  };
}
