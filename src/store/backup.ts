export declare function backupDatabase(options: { readonly dataDir: string; readonly toPath: string }): {
  readonly bytes: number;
};
