import { useState } from "preact/hooks";
import { messageOf } from "../wire/api.ts";

export type Action = {
  readonly isRunning: boolean;
  /** What went wrong in the last run; null where nothing did. */
  readonly failure: string | null;
  readonly run: (work: () => Promise<void>) => Promise<void>;
  readonly fail: (message: string | null) => void;
};

/** Runs one piece of work at a time for a button or a form, and keeps what went wrong. */
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
