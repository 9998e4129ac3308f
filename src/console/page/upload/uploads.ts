import { pause } from "../../../platform/pause.ts";
import { createStore, type Store } from "../state/store.ts";
import { type Api, codeOf, messageOf } from "../wire/api.ts";
import type { Job } from "../wire/bodies.ts";
import { Refusal } from "../wire/refusal.ts";
import { eraseUpload } from "./erase-upload.ts";
import {
  digestOf,
  isSameFile,
  isSent,
  type KeptUpload,
  partBytesOf,
  readKept,
  writeKept,
} from "./kept-upload.ts";
import { createPartSending } from "./part-sending.ts";
import type { Sending } from "./sending.ts";
import { stateOf, type UploadState, undiscarded } from "./upload-state.ts";

export type List = {
  readonly file: File;
  readonly contentType: string;
  /** The query with the job's options. */
  readonly query: URLSearchParams;
};

/** The one upload of this tab; it continues while other views are shown. */
export type Uploads = {
  readonly state: Store<UploadState>;
  readonly begin: (list: List) => Promise<void>;
  /** Resumes with the same file. */
  readonly resume: (file: File) => Promise<void>;
  /** Learns from the server whether a list whose parts it has is started. Throws where it does not say. */
  readonly ask: () => Promise<void>;
  /** Starts the list whose parts are all on the server. */
  readonly start: () => Promise<void>;
  /**
   * Ends the upload and erases what the server has of it. Throws where the server does not erase it: what was sent is
   * kept, to be discarded again, resumed or started.
   */
  readonly discard: () => Promise<void>;
  readonly clear: () => void;
  /** Stops at once without calling the server, because the visitor has left. */
  readonly forget: () => void;
};

export type UploadsDependencies = {
  readonly api: Api;
  readonly storage: Storage;
  /** Puts a part. Throws Refusal, Unreachable, or the reason of the signal. */
  readonly send: (sending: Sending) => Promise<void>;
  readonly wait?: typeof pause;
};

export function createUploads({ api, storage, send, wait = pause }: UploadsDependencies): Uploads {
  const kept = readKept(storage);
  const state = createStore<UploadState>(stateOf(kept));
  let stop = new AbortController();

  const show = (signal: AbortSignal, file: Pick<File, "name" | "size">, sent: number, isWaiting = false) => {
    if (signal.aborted) return;
    state.set({ status: "sending", name: file.name, sent, size: file.size, isWaiting });
  };
  /** What a visitor leaves behind must not come back for the next one. */
  const keep = (signal: AbortSignal, upload: KeptUpload) => {
    signal.throwIfAborted();
    writeKept(storage, upload);
  };

  /** Runs an upload and shows its state. */
  const run = async (work: (signal: AbortSignal) => Promise<Job>) => {
    stop = new AbortController();
    const { signal } = stop;
    try {
      const job = await work(signal);
      if (signal.aborted) return;
      writeKept(storage, null);
      state.set({ status: "started", jobId: job.job_id });
    } catch (error) {
      if (signal.aborted) return;
      const left = readKept(storage);
      if (left !== null && isSent(left) && error instanceof Refusal && PARTS_STAY.has(error.code)) {
        return state.set({ status: "unstarted", kept: left, message: error.message });
      }
      if (left !== null && error instanceof Refusal) {
        writeKept(storage, null);
        await api.remove(`/v1/jobs/${left.jobId}`).catch(() => undefined);
      }
      state.set({ status: "failed", message: messageOf(error) });
    }
  };

  const parts = createPartSending({ api, send, wait, show, keep });

  /** Creates the job. One that was given up meanwhile is deleted, as the visitor who began it. */
  const create = async (path: string, contentType: string, signal: AbortSignal): Promise<Job> => {
    const headers = api.authorization();
    const reply = await api.open(path, { method: "POST", headers: { "Content-Type": contentType } });
    const job = (await reply.json()) as Job;
    if (signal.aborted) {
      await api.open(`/v1/jobs/${job.job_id}`, { method: "DELETE", headers }).catch(() => undefined);
    }
    signal.throwIfAborted();
    return job;
  };

  /** Ends an upload whose list the server has started, or does not know; returns whether it did. */
  const endIfStarted = async ({ jobId }: KeptUpload): Promise<boolean> => {
    const job = await api.read<Job>(`/v1/jobs/${jobId}`).catch((error: unknown) => {
      if (codeOf(error) === "not_found") return null;
      throw error;
    });
    if (job?.status === "receiving") return false;
    writeKept(storage, null);
    state.set(job === null ? { status: "idle" } : { status: "started", jobId });
    return true;
  };

  return {
    state,
    begin: ({ file, contentType, query }) =>
      run(async (signal) => {
        show(signal, file, 0);
        const job = await create(`/v1/jobs?upload=parts&${query}`, contentType, signal);
        const upload: KeptUpload = {
          jobId: job.job_id,
          name: file.name,
          size: file.size,
          lastModified: file.lastModified,
          partBytes: partBytesOf(file.size),
          parts: [],
        };
        keep(signal, upload);
        return parts.send(file, upload, signal);
      }),
    async resume(file) {
      const upload = readKept(storage);
      if (upload === null) return state.set({ status: "idle" });
      stop = new AbortController();
      const { signal } = stop;
      const [first = ""] = upload.parts;
      const isSame =
        isSameFile(upload, file) &&
        (first === "" || (await digestOf(file.slice(0, upload.partBytes))) === first);
      // The visitor may have left, or discarded it, meanwhile.
      if (signal.aborted) return;
      if (!isSame) throw new Refusal(`This is not the file ${upload.name} as it was.`, NOT_THE_FILE);
      await run((sending) => parts.send(file, upload, sending));
    },
    async ask() {
      const upload = readKept(storage);
      if (upload === null) return state.set({ status: "idle" });
      if (!(await endIfStarted(upload))) state.set({ status: "unstarted", kept: upload, message: null });
    },
    async start() {
      const upload = readKept(storage);
      if (upload === null) return state.set({ status: "idle" });
      await run((signal) => parts.start(upload, signal));
    },
    async discard() {
      const end = () => stop.abort(new DOMException("discarded", "AbortError"));
      end();
      const left = readKept(storage);
      // A list that was started meanwhile runs and is charged: it is not erased as something that was never begun.
      if (left !== null && state.get().status === "unstarted" && (await endIfStarted(left))) return;
      const failure = left === null ? null : await eraseUpload(api, left.jobId);
      const last = readKept(storage);
      // The visitor may have left meanwhile, or have chosen the file again.
      if (last?.jobId === left?.jobId) {
        end();
        if (failure === null) writeKept(storage, null);
        state.set(failure === null || last === null ? { status: "idle" } : undiscarded(last, failure));
      }
      if (failure !== null) throw failure;
    },
    clear: () => state.set({ status: "idle" }),
    forget() {
      stop.abort(new DOMException("forgotten", "AbortError"));
      state.set({ status: "idle" });
    },
  };
}

/** Refusals of a start behind which the server keeps the parts: of units, and of lists at once. */
const PARTS_STAY: ReadonlySet<string> = new Set(["quota_exceeded", "too_many_jobs"]);

const NOT_THE_FILE = { status: 0, code: "other_file", requestId: null };
