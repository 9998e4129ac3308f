import { createClient } from "../../src/client/client.ts";
import { PART_BYTES_MAX } from "../../src/contract/words.ts";
import { addressCorpus } from "../input.ts";
import { type Aim, CORPUS } from "../load/jobs.ts";

export const clientOf = ({ url, key }: Aim) => createClient({ baseUrl: url, apiKey: key });

/** Creates a job of `rows` at a server; returns its id. */
export type CreateJob = (aim: Aim, rows: number) => Promise<string>;

/** No two jobs of one run have a row in common. */
export function jobCreator(): CreateJob {
  let jobs = 0;
  return async (aim, rows) => {
    jobs += 1;
    const { cases } = addressCorpus(CORPUS);
    const lines = Array.from(
      { length: rows },
      (_, row) => `j${jobs}x${row}${cases[row % cases.length]?.text}`,
    );
    const input = { text: lines.join("\n") };
    return (await clientOf(aim).createJob(input, {}, { partBytes: PART_BYTES_MAX })).job_id;
  };
}
