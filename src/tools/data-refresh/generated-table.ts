/** A committed file that is rebuilt from installed packages or checked-in sources, the same text every time. */
export type GeneratedTable = {
  /** From the project's root. */
  readonly path: string;
  readonly build: () => string | Promise<string>;
};
