import { useEffect, useState } from "preact/hooks";
import type { Preview, ReadReport, ReadRequest } from "./messages.ts";

export type ReadList = {
  readonly preview: Preview | null;
  /** The part of the file that is read, from 0 to 1. */
  readonly share: number;
  readonly counted: { readonly rows: number; readonly distinct: number } | null;
  readonly failure: string | null;
};

const NOTHING: ReadList = { preview: null, share: 0, counted: null, failure: null };

/** Reads a list in a worker, and again whenever the request changes. */
export function useList(request: ReadRequest): ReadList {
  const [read, setRead] = useState<ReadList>(NOTHING);
  const { file, kind, column, delimiter, encoding } = request;
  useEffect(() => {
    setRead((before) => ({ ...NOTHING, preview: before.preview }));
    const thread = new Worker("/console/list-reader.js", { type: "module" });
    const fail = () =>
      setRead((before) => ({ ...before, failure: "The file cannot be read; was it changed?" }));
    thread.addEventListener("error", fail);
    thread.addEventListener("message", ({ data }: MessageEvent<ReadReport>) => {
      setRead((before) => {
        switch (data.type) {
          case "preview":
            return { ...before, preview: data.preview };
          case "progress":
            return { ...before, share: data.share };
          case "counted":
            return { ...before, share: 1, counted: { rows: data.rows, distinct: data.distinct } };
          case "failed":
            return { ...before, failure: data.message };
        }
      });
    });
    thread.postMessage(request);
    return () => thread.terminate();
  }, [file, kind, column, delimiter, encoding]);
  return read;
}
