/**
 * A judgement as it is answered, until something is known that it does not say. Few objects each: of tens of thousands,
 * those of a call lie in no cache of the processor.
 */
export type KeptJudgement = {
  /** Empty once it is forgotten, for the calls that still lead to it. */
  text: string;
  /** The entity tag of the text. */
  readonly tag: string;
  /** What of the directory it was made of. */
  readonly digest: string;
  readonly stale: boolean;
  /** Monotonic. */
  readonly madeMs: number;
};

/** Judgements by resource, and by the addresses of the calls that asked for them, as they were spelt. */
export type KeptJudgements = {
  readonly ofCall: (asked: string) => KeptJudgement | null;
  readonly ofResource: (resource: string) => KeptJudgement | null;
  readonly keep: (resource: string, judgement: KeptJudgement) => void;
  /** Answers calls of this address with the judgement of a resource from now on. */
  readonly name: (asked: string, resource: string) => void;
  readonly forget: (resource: string) => void;
  /** Of all texts that are held. */
  readonly bytes: () => number;
};

/** Longer addresses are answered by their resource: a query may be spelt in endless ways. */
const CALL_LENGTH_MAX = 512;

/** Keeps a bounded number of bytes of texts, and of calls; the oldest is evicted first. Texts are ASCII. */
export function createKeptJudgements(limits: {
  readonly bytesMax: number;
  readonly callsMax: number;
}): KeptJudgements {
  const byResource = new Map<string, KeptJudgement>();
  const byCall = new Map<string, KeptJudgement>();
  let bytes = 0;

  function forget(resource: string): void {
    const known = byResource.get(resource);
    if (known === undefined) return;
    bytes -= known.text.length;
    known.text = "";
    byResource.delete(resource);
  }

  return {
    ofCall(asked) {
      const known = byCall.get(asked);
      return known === undefined || known.text === "" ? null : known;
    },
    ofResource: (resource) => byResource.get(resource) ?? null,
    keep(resource, judgement) {
      forget(resource);
      byResource.set(resource, judgement);
      bytes += judgement.text.length;
      for (const oldest of byResource.keys()) {
        if (bytes <= limits.bytesMax) break;
        forget(oldest);
      }
    },
    name(asked, resource) {
      const known = byResource.get(resource);
      if (known === undefined || asked.length > CALL_LENGTH_MAX) return;
      byCall.delete(asked);
      byCall.set(asked, known);
      for (const oldest of byCall.keys()) {
        if (byCall.size <= limits.callsMax) break;
        byCall.delete(oldest);
      }
    },
    forget,
    bytes: () => bytes,
  };
}
