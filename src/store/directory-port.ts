import type { Answer } from "../platform/answer.ts";

// What the processes of a cluster share of the directory: one of them syncs it and publishes the files of its state,
// which the others take over byte for byte.

/** What is published of the directory, and who syncs it. */
export type DirectoryTurn = {
  /** Counts the processes that have had the turn; null while another one has it. */
  readonly term: number | null;
  /** Counts publications; 0 before the first. */
  readonly revision: number;
  /** When the contents were last known to be the source's, and how old the source said they were, ms. */
  readonly syncedAt: number;
  readonly upstreamAgeMs: number;
};

/** How old the published contents are. */
export type DirectoryAge = Pick<DirectoryTurn, "syncedAt" | "upstreamAgeMs">;

export type DirectoryPublication = Omit<DirectoryTurn, "term"> & {
  /** JSON, which names the files. */
  readonly state: string;
};

export type DirectoryTurnPort = {
  /** Takes the turn to sync where nobody has it, or renews this process's own, by the clock of the store. */
  readonly takeDirectoryTurn: () => Answer<DirectoryTurn>;
  /** Gives the turn of this process back, so that another one goes on at once. */
  readonly leaveDirectoryTurn: () => Answer<void>;
};

/** The first bytes of a file that belong to a state. */
export type DirectoryFile = { readonly file: string; readonly bytes: number };

/** Another process has taken the turn: nothing of what this one found stands. */
export class DirectoryTurnLostError extends Error {
  override readonly name = "DirectoryTurnLostError";
}

/** Writes need a term that still runs, and throw a DirectoryTurnLostError where it does not. */
export type DirectoryFilePort = {
  /** Returns what is published; null before the first, and where it is the revision that the caller knows. */
  readonly readDirectory: (knownRevision: number) => Promise<DirectoryPublication | null>;
  /** Returns the part of a file that starts at a byte, or null where it is missing. */
  readonly readDirectoryPart: (file: string, startsAt: number) => Promise<Uint8Array | null>;
  /** Removes all parts but these. */
  readonly keepDirectoryFiles: (term: number, files: readonly DirectoryFile[]) => Promise<void>;
  readonly putDirectoryPart: (
    term: number,
    file: string,
    startsAt: number,
    body: Uint8Array,
  ) => Promise<void>;
  /** Publishes a state whose files were put, and removes all others. Returns its revision. */
  readonly publishDirectory: (
    term: number,
    publication: DirectoryAge & { readonly state: string; readonly files: readonly DirectoryFile[] },
  ) => Promise<number>;
  /** Says that what is published was the source's again. */
  readonly confirmDirectory: (term: number, age: DirectoryAge) => Promise<void>;
};
