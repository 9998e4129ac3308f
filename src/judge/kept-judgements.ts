/** A judgement as it is answered, until something is known that it does not say. */
export type KeptJudgement = {
  readonly text: string;
  readonly headers: { readonly ETag: string; readonly "Cache-Control": string };
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

/** Emptied, it holds no text for the calls that still lead to it. */
type Place = { judgement: KeptJudgement | null };

/** Keeps a bounded number of bytes of texts, and of calls; the oldest is evicted first. Texts are ASCII. */
export function createKeptJudgements(limits: {
  readonly bytesMax: number;
  readonly callsMax: number;
}): KeptJudgements {
  const places = new Map<string, Place>();
  const byCall = new Map<string, Place>();
  let bytes = 0;

  function forget(resource: string): void {
    const place = places.get(resource);
    if (place === undefined) return;
    bytes -= place.judgement?.text.length ?? 0;
    place.judgement = null;
    places.delete(resource);
  }

  return {
    ofCall: (asked) => byCall.get(asked)?.judgement ?? null,
    ofResource: (resource) => places.get(resource)?.judgement ?? null,
    keep(resource, judgement) {
      forget(resource);
      places.set(resource, { judgement });
      bytes += judgement.text.length;
      for (const oldest of places.keys()) {
        if (bytes <= limits.bytesMax) break;
        forget(oldest);
      }
    },
    name(asked, resource) {
      const place = places.get(resource);
      if (place === undefined || asked.length > CALL_LENGTH_MAX) return;
      byCall.delete(asked);
      byCall.set(asked, place);
      for (const oldest of byCall.keys()) {
        if (byCall.size <= limits.callsMax) break;
        byCall.delete(oldest);
      }
    },
    forget,
    bytes: () => bytes,
  };
}
