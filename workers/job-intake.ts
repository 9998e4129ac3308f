import { createIntakeWorker } from "../src/jobs/intake/intake-worker.ts";

/** The thread that reads the inputs of jobs. */

const worker = createIntakeWorker((reply, transfer) => postMessage(reply, [...transfer]));
addEventListener("message", ({ data }) => worker.receive(data));
