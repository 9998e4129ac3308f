/** A part of an upload on its way. */
export type Sending = {
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Blob;
  readonly onSent: (bytes: number) => void;
  readonly signal: AbortSignal;
};
