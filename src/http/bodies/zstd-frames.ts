/** Follows zstd frames (RFC 8878) part by part, to know whether a body ends with a whole frame. */
export type ZstdFrames = {
  readonly take: (part: Uint8Array) => void;
  /** True before the first frame and after each whole one. */
  readonly isAtEnd: () => boolean;
};

const MAGIC_BYTES = 4;
/** Skippable frames: 0x184D2A50 to 0x184D2A5F, then 4 bytes with the length. */
const SKIPPABLE_MAGIC = 0x184d2a5;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
const RLE_BLOCK = 1;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];

type Step = "magic" | "length" | "descriptor" | "block" | "skip";

/** Trusts the decoder to refuse what is no frame at all. Keeps a number or two, never the bytes. */
export function createZstdFrames(): ZstdFrames {
  let step: Step = "magic";
  /** Bytes of a little-endian number that is being read, and what it is so far. */
  let wanted = MAGIC_BYTES;
  let read = 0;
  let value = 0;
  let skip = 0;
  let afterSkip: Step = "magic";
  let hasChecksum = false;

  const next = (to: Step, bytes: number): void => {
    step = to;
    wanted = bytes;
    read = 0;
    value = 0;
  };
  const enter = (to: Step): void => {
    if (to === "block") next("block", BLOCK_HEADER_BYTES);
    else next("magic", MAGIC_BYTES);
  };
  const skipThen = (bytes: number, to: Step): void => {
    if (bytes === 0) enter(to);
    else {
      next("skip", 0);
      skip = bytes;
      afterSkip = to;
    }
  };
  const advance = (): void => {
    if (step === "magic") {
      if (Math.floor(value / 16) === SKIPPABLE_MAGIC) next("length", 4);
      else next("descriptor", 1);
    } else if (step === "length") skipThen(value, "magic");
    else if (step === "descriptor") {
      const isSingleSegment = (value & 0x20) !== 0;
      const contentSize = CONTENT_SIZE_BYTES[value >> 6] || Number(isSingleSegment);
      hasChecksum = (value & 4) !== 0;
      skipThen(Number(!isSingleSegment) + (DICTIONARY_ID_BYTES[value & 3] ?? 0) + contentSize, "block");
    } else {
      const isLast = (value & 1) !== 0;
      const bytes = ((value >> 1) & 3) === RLE_BLOCK ? 1 : value >> 3;
      skipThen(bytes + (isLast && hasChecksum ? CHECKSUM_BYTES : 0), isLast ? "magic" : "block");
    }
  };

  return {
    take(part) {
      let at = 0;
      while (at < part.byteLength) {
        if (step === "skip") {
          const skipped = Math.min(skip, part.byteLength - at);
          at += skipped;
          skip -= skipped;
          if (skip === 0) enter(afterSkip);
        } else {
          value += (part[at] ?? 0) * 2 ** (8 * read);
          at += 1;
          read += 1;
          if (read === wanted) advance();
        }
      }
    },
    isAtEnd: () => step === "magic" && read === 0,
  };
}
