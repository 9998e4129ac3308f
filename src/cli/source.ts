import { createReadStream, type Stats, statSync } from "node:fs";
import { systemReason } from "../platform/system-reason.ts";
import { FORM_BYTES, whyNoText } from "../tables/mistaken-form.ts";
import { encodingByMark, type WrittenEncoding, writtenEncoding } from "../tables/text-form.ts";
import { CliError } from "./failure.ts";

/** The text of the input, piece by piece. */
export type Source = {
  /** The name for messages. */
  readonly name: string;
  readonly text: AsyncIterable<string>;
  /** Null where it cannot be known. */
  readonly bytesTotal: number | null;
  readonly bytesRead: () => number;
  /** Returns whether the file was written to since it was opened: rows may be cut or missing. */
  readonly isChanged: () => boolean;
  /** How the text is encoded: known once its first piece has been read. */
  readonly encoding: () => SourceEncoding;
};

export type SourceEncoding = { readonly encoding: WrittenEncoding; readonly hasMark: boolean };

const READ_BYTES = 262_144;

/** Opens a file, or standard input for `-`. Throws CliError, here or while it is read, where it is no text. */
export function openSource(path: string, encoding: string | undefined): Source {
  const name = path === "-" ? "Standard input" : path;
  const before = path === "-" ? null : fileStat(path);
  const isChanged = () => {
    if (before === null) return false;
    try {
      const now = statSync(path);
      // Another file in its place leaves the one that is read whole.
      return now.ino === before.ino && (now.size !== before.size || now.mtimeMs !== before.mtimeMs);
    } catch {
      return false;
    }
  };
  let bytesRead = 0;
  let found: SourceEncoding = { encoding: "utf-8", hasMark: false };
  const bytes = path === "-" ? Bun.stdin.stream() : createReadStream(path, { highWaterMark: READ_BYTES });

  async function* read(): AsyncGenerator<string, void, undefined> {
    let decoder: TextDecoder | null = null;
    for await (const piece of withWholeMark(chunks(bytes, name))) {
      if (decoder === null) {
        refuseMistaken(piece, name, encoding);
        const marked = encodingByMark(piece);
        decoder = decoderFor(encoding ?? marked ?? "utf-8");
        found = { encoding: writtenEncoding(decoder.encoding), hasMark: marked === decoder.encoding };
      }
      yield decode(decoder, piece, { name, at: bytesRead });
      bytesRead += piece.byteLength;
    }
    if (decoder !== null) yield decode(decoder, null, { name, at: bytesRead });
  }

  return {
    name,
    text: read(),
    bytesTotal: before?.size ?? null,
    bytesRead: () => bytesRead,
    isChanged,
    encoding: () => found,
  };
}

/** Returns null for what is no regular file, such as a pipe. */
function fileStat(path: string): Stats | null {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new CliError(`${path} is a folder, not a file.`);
    return stat.isFile() ? stat : null;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read: ${systemReason(error)}.`);
  }
}

async function* chunks(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw new CliError(`${name} cannot be read: ${systemReason(error)}.`);
  }
}

/** Makes the first piece long enough for a byte order mark, where there are as many bytes. */
async function* withWholeMark(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | null = new Uint8Array();
  for await (const piece of pieces) {
    if (start === null) yield piece;
    else {
      start = start.byteLength === 0 ? piece : Buffer.concat([start, piece]);
      if (start.byteLength < FORM_BYTES) continue;
      yield start;
      start = null;
    }
  }
  if (start !== null && start.byteLength > 0) yield start;
}

/** Throws CliError where the first bytes are those of another kind of file, or of an encoding that must be named. */
function refuseMistaken(first: Uint8Array, name: string, encoding: string | undefined): void {
  const nameEncoding = encoding === undefined ? (found: string) => `name it with --encoding ${found}` : null;
  const why = whyNoText(first, { name, nameEncoding });
  if (why !== null) throw new CliError(why);
}

function decoderFor(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding as Bun.Encoding, { fatal: true });
  } catch {
    throw new CliError(
      `--encoding: "${encoding}" is no known encoding; try utf-8, windows-1252 or utf-16le.`,
    );
  }
}

function decode(
  decoder: TextDecoder,
  bytes: Uint8Array | null,
  place: { readonly name: string; readonly at: number },
): string {
  let text: string;
  try {
    text = bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch {
    const hint = "name its encoding with --encoding, such as windows-1252";
    throw new CliError(`${place.name} is not ${decoder.encoding} text after byte ${place.at}; ${hint}.`);
  }
  if (text.includes("\0")) {
    throw new CliError(`${place.name} is not a text file: it has a NUL character after byte ${place.at}.`);
  }
  return text;
}
