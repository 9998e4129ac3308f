import { closeSync } from "node:fs";
import { retireSegments, type SnapshotRows } from "./snapshot.ts";

/**
 * Tracks the snapshots that the sync thread has transferred, while they are referenced. Texts whose memory the thread
 * reuses are read from the file, which is closed with the last snapshot that reads it.
 */
export function createPublishedSnapshots() {
  let known: WeakRef<SnapshotRows>[] = [];
  const readers = new Map<number, number>();
  const release = (descriptors: readonly number[]): void => {
    for (const descriptor of descriptors) {
      const left = (readers.get(descriptor) ?? 1) - 1;
      if (left > 0) readers.set(descriptor, left);
      else {
        readers.delete(descriptor);
        closeSync(descriptor);
      }
    }
  };
  const collected = new FinalizationRegistry(release);
  return {
    add(snapshot: SnapshotRows): void {
      const files = snapshot.segmentFiles.flatMap((file) => (file === null ? [] : [file.descriptor]));
      const descriptors = [...new Set(files)];
      for (const descriptor of descriptors) readers.set(descriptor, (readers.get(descriptor) ?? 0) + 1);
      collected.register(snapshot, descriptors);
      known = known.filter((reference) => reference.deref() !== undefined);
      known.push(new WeakRef(snapshot));
    },
    /** Detaches the memory of these segments from every snapshot, which reads them from its file from now on. */
    retire(segmentIds: readonly number[]): void {
      const ids = new Set(segmentIds);
      for (const reference of known) {
        const snapshot = reference.deref();
        if (snapshot !== undefined) retireSegments(snapshot, ids);
      }
    },
    /**
     * Forgets the snapshots of a thread that has ended: they keep their memory, and the next thread numbers its
     * segments from 1.
     */
    forgetThread(): void {
      known = [];
    },
  };
}
