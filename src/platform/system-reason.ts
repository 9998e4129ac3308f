/** Returns the code of a system error, such as ENOENT; empty without one. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

const WORDS: { readonly [code: string]: string } = {
  ENOENT: "it does not exist",
  EACCES: "permission is denied",
  EPERM: "permission is denied",
  EEXIST: "it is a file",
  EISDIR: "it is a folder",
  ENOTDIR: "its folder is a file",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "it would be larger than files may be here",
  EROFS: "the disk is read-only",
  EIO: "the disk failed",
};

/** Describes a system error in words. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  return WORDS[code] ?? (code === "" ? String(error instanceof Error ? error.message : error) : code);
}
