import { createReadStream, statSync } from "node:fs";
import { CliError, systemReason } from "./failure.ts";

/** The text of the input, piece by piece. */
export type Source = {
  /** What to call it in sentences. */
  readonly name: string;
  readonly text: AsyncIterable<string>;
  /** Null where it cannot be known. */
  readonly bytesTotal: number | null;
  readonly bytesRead: () => number;
};

const READ_BYTES = 262_144;

/** Opens a file, or standard input for `-`. Throws CliError, here or while it is read, where it is no text. */
export function openSource(path: string, encoding: string | undefined): Source {
  const name = path === "-" ? "Standard input" : path;
  const bytesTotal = path === "-" ? null : sizeOf(path);
  let bytesRead = 0;
  const bytes = path === "-" ? Bun.stdin.stream() : createReadStream(path, { highWaterMark: READ_BYTES });

  async function* read(): AsyncGenerator<string, void, undefined> {
    let decoder: TextDecoder | null = null;
    for await (const piece of chunks(bytes, name)) {
      decoder ??= decoderFor(piece, encoding);
      yield decode(decoder, piece, { name, at: bytesRead });
      bytesRead += piece.byteLength;
    }
    if (decoder !== null) yield decode(decoder, null, { name, at: bytesRead });
  }

  return { name, text: read(), bytesTotal, bytesRead: () => bytesRead };
}

function sizeOf(path: string): number | null {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw new CliError(`${path} is a folder, not a file.`);
    return stat.isFile() ? stat.size : null;
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

/** By the encoding named, by the byte order mark, or UTF-8. */
function decoderFor(first: Uint8Array, encoding: string | undefined): TextDecoder {
  const [a, b] = first;
  const marked = a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder((encoding ?? marked) as Bun.Encoding, { fatal: true });
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
