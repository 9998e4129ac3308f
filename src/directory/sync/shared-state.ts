import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DirectoryAge, DirectoryFile, DirectoryFilePort } from "../../store/directory-port.ts";
import { createBatchWriter, syncFolder } from "./durable-file.ts";
import { chunksOfFile } from "./line-file.ts";
import { sha256OfFile } from "./state-folder.ts";
import type { StoredState } from "./stored-state.ts";

/** A state that the processes of a cluster share. */
export type SharedState = DirectoryAge & { readonly state: StoredState; readonly revision: number };

/** Uploads the files of a state, then publishes the state. Returns its revision. */
export async function publishState(
  shared: DirectoryFilePort,
  term: number,
  folder: string,
  { state, former }: { readonly state: StoredState; readonly former: StoredState | null },
): Promise<number> {
  const known = former === null ? [] : filesOf(former);
  const files = filesOf(state);
  const unknown = files.flatMap(({ file, bytes }) => {
    const startsAt = known.find((each) => each.file === file)?.bytes ?? 0;
    return startsAt < bytes ? [{ file, startsAt, bytes }] : [];
  });
  // An earlier attempt may have left parts that belong to no state.
  if (unknown.length > 0) await shared.keepDirectoryFiles(term, known);
  for (const { file, startsAt, bytes } of unknown) {
    let at = startsAt;
    for (const chunk of chunksOfFile(join(folder, file), startsAt, bytes)) {
      await shared.putDirectoryPart(term, file, at, chunk);
      at += chunk.length;
    }
  }
  const { syncedAt, upstreamAgeMs } = state;
  return shared.publishDirectory(term, { state: JSON.stringify(state), files, syncedAt, upstreamAgeMs });
}

/**
 * Downloads the files of the published state into the folder, but not the state itself. Returns null where the
 * revision is the known one. The files of the known state must be there. Throws where files are removed meanwhile, as
 * a newer state is published then.
 */
export async function fetchState(
  shared: DirectoryFilePort,
  folder: string,
  known: { readonly revision: number; readonly state: StoredState | null },
): Promise<SharedState | null> {
  const publication = await shared.readDirectory(known.revision);
  if (publication === null) return null;
  const state = JSON.parse(publication.state) as StoredState;
  if (state.format !== 1) throw new Error(`format ${state.format} of the published state is not known`);
  const { base } = state;
  if (!hasFile(folder, base)) await fetchFile(shared, folder, base, 0);
  for (const log of state.log) {
    const there = known.state?.log.find(({ file }) => file === log.file)?.bytes ?? 0;
    if (there < log.bytes) await fetchFile(shared, folder, log, there);
  }
  syncFolder(folder);
  const { revision, syncedAt, upstreamAgeMs } = publication;
  return { state: { ...state, syncedAt, upstreamAgeMs }, revision, syncedAt, upstreamAgeMs };
}

function filesOf({ base, log }: StoredState): readonly DirectoryFile[] {
  return [base, ...log].map(({ file, bytes }) => ({ file, bytes }));
}

function hasFile(folder: string, { file, bytes, digest }: StoredState["base"]): boolean {
  const path = join(folder, file);
  return existsSync(path) && statSync(path).size === bytes && sha256OfFile(path, bytes) === digest;
}

async function fetchFile(
  shared: DirectoryFilePort,
  folder: string,
  { file, bytes }: DirectoryFile,
  startsAt: number,
): Promise<void> {
  const descriptor = openSync(join(folder, file), "a", 0o600);
  try {
    // An unpublished sync of this process may have left lines.
    ftruncateSync(descriptor, startsAt);
    const writer = createBatchWriter(descriptor);
    for (let at = startsAt; at < bytes; ) {
      const part = await shared.readDirectoryPart(file, at);
      if (part === null) throw new Error(`${file} is not published whole from byte ${at} on`);
      writer.put(part);
      at += part.length;
    }
    writer.flush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
