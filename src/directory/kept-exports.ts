import type { Snapshot } from "./snapshot/snapshot.ts";
import type { ExportForm, Syncer } from "./sync/syncer.ts";

/**
 * Returns the compressed export, which is made once for each state; null where the state is not the newest any more.
 */
export type KeptExports = (snapshot: Snapshot, form: ExportForm) => Promise<Uint8Array | null>;

/** Creates a cache of the compressed exports of the newest snapshot, each made on its first request. */
export function createKeptExports(gzip: Syncer["gzip"]): KeptExports {
  let made: {
    readonly snapshot: Snapshot;
    readonly forms: Map<ExportForm, Promise<Uint8Array | null>>;
  } | null = null;
  return (snapshot, form) => {
    if (made === null || made.snapshot !== snapshot) {
      // A reader of an older state must not evict what all others request.
      if (made !== null && made.snapshot.version > snapshot.version) return Promise.resolve(null);
      made = { snapshot, forms: new Map() };
    }
    const { forms } = made;
    const known = forms.get(form);
    if (known !== undefined) return known;
    const body = gzip(snapshot.version, form).catch(() => null);
    forms.set(form, body);
    void body.then((bytes) => {
      if (bytes === null) forms.delete(form);
    });
    return body;
  };
}
