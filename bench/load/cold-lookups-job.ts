export type ColdLookupsJob = {
  readonly server: string;
  readonly names: number;
  readonly rounds: number;
  /** Numbers of look-ups on their way at a time, of which the best is c-ares' setting. */
  readonly cAresInFlight: readonly number[];
};

type Round = { readonly perSecond: number; readonly lost: number };

export type ColdLookups = {
  readonly ours: Round[];
  readonly cAres: (Round & { readonly inFlight: number })[];
};
