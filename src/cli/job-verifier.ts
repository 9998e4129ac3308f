import type { Client } from "../client/client.ts";
import type { Job } from "../client/contract-types.ts";
import type { Result, Task } from "../tables/task.ts";
import { BLOCK_ROWS_MAX, type BlockResults, type Verifier } from "./block-verifier.ts";
import { CliError, EXIT } from "./failure.ts";
import { cliError, foreignReply, hasKnownStatus, isResultOf } from "./server-reply.ts";

export type JobResultsSource = {
  readonly client: Client;
  readonly url: string;
  readonly job: Job;
  readonly task: Task;
  /** Rows of the file whose results are written already. */
  readonly afterRow: number;
};

/** Takes the results of blocks from a job that has been verified, in the order of the file. */
export function createJobVerifier({ client, url, job, task, afterRow }: JobResultsSource): Verifier {
  const results = client.jobResults<Result>(job.job_id, { afterRow, partial: true });
  const other = new CliError(`The job ${job.job_id} is of another file.`);
  let row = afterRow;
  let uncountedUnits = afterRow === 0 ? job.units_charged : 0;
  let last: Promise<unknown> = Promise.resolve();

  async function take(items: readonly string[]): Promise<BlockResults> {
    const block: Result[] = [];
    for (const item of items) {
      const { done, value } = await results.next();
      if (done === true) throw other;
      const { row: place, ...result } = value;
      row += 1;
      if (place !== row || !isResultOf(task, item, result)) throw other;
      if (!hasKnownStatus(task, result)) throw foreignReply(url, EXIT.stopped);
      block.push(result);
    }
    const unitsCharged = uncountedUnits;
    uncountedUnits = 0;
    return { results: block, unitsCharged };
  }

  return {
    blockRowsMax: BLOCK_ROWS_MAX,
    blocksInFlight: 1,
    budget: null,
    trouble: async () => null,
    verify(items) {
      const taken = last.then(() => take(items));
      last = taken.catch(() => undefined);
      return taken.catch((error: unknown) => {
        throw cliError(error, url, EXIT.stopped);
      });
    },
    refuseOtherEnd(rows) {
      if (rows !== job.counts.rows) throw other;
    },
    [Symbol.asyncDispose]: async () => {
      await results.return();
    },
  };
}
