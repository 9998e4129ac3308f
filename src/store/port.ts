import type { Answer, AtOnce } from "../platform/answer.ts";
import type { AccountPort, KeyPort } from "./account-port.ts";
import type { AdmitPort } from "./admit-port.ts";
import type { InvoicePort, MonthPort, ReplyPort, UsagePort } from "./billing-port.ts";
import type { DirectoryTurnPort } from "./directory-port.ts";
import type { JobPort } from "./job-port.ts";
import type { LeasePort } from "./lease-port.ts";
import type { OperatorPort } from "./operator-port.ts";
import type { PartPort } from "./part-port.ts";
import type { SigningPort } from "./signing-port.ts";
import type { WebhookPort } from "./webhook-port.ts";

// What the program asks of its store, one function a use case: each is one transaction, whole or not at all. Times
// are milliseconds since the epoch, money is micro-USD, days are "2026-11-20" in UTC. Functions that are passed in
// run inside the transaction: they compute, and ask no store. Everything may throw a StorageError.

export type Upkeep = {
  /** Throws a StorageError while it is not known whether a commit is on the disk: nothing may be acknowledged then. */
  readonly requireSettled: () => Answer<void>;
  /** Writes and commits one row. Throws a StorageError where calls could not be charged now. */
  readonly probe: () => Answer<void>;
  readonly isOpen: () => boolean;
  /** Returns the bytes that the rows take, and those inside the store that are free for new ones. */
  readonly space: () => Answer<{ readonly usedBytes: number; readonly freeBytes: number }>;
  readonly stats: () => { readonly errors: number };
  /** Frees what it holds. Closing twice is closing once. */
  readonly close: () => void;
};

/** Accounts and what is counted and billed of them. */
export type AccountingStore = AccountPort &
  KeyPort &
  MonthPort &
  UsagePort &
  InvoicePort &
  ReplyPort &
  OperatorPort &
  Upkeep;

export type Store = AccountingStore & JobPort & WebhookPort;

/** A store that other processes write to as well: what is read of it may be old at once. */
export type SharedStore = Store & AdmitPort & LeasePort & PartPort & DirectoryTurnPort & SigningPort;

/**
 * A store inside this process, which answers at once and has no other writer: what is read of it holds until this
 * process changes it.
 */
export type EmbeddedStore = AtOnce<Store>;
