import type { ByteReader } from "./byte-reader.ts";
import { OutgoingError } from "./failure.ts";

/** Status and header fields of a reply (RFC 9112). */
export type ResponseHead = {
  readonly status: number;
  readonly headers: Headers;
  /** Octets of the head, interim replies included. */
  readonly headBytes: number;
};

const FIELDS_MAX = 512;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: .*)?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const SWITCHING_PROTOCOLS = 101;

/** Reads the head of the final reply; interim ones are passed over. Throws OutgoingError. */
export async function readHead(reader: ByteReader, bytesMax: number): Promise<ResponseHead> {
  let headBytes = 0;
  const nextLine = async (): Promise<string> => {
    const line = await reader.readLine(bytesMax - headBytes);
    if (line === null) throw new OutgoingError("bad_response", "the connection ended within the head");
    headBytes += line.length + 2;
    return line;
  };
  for (;;) {
    const status = readStatus(await nextLine());
    const headers = await readFields(nextLine);
    if (status === SWITCHING_PROTOCOLS) throw new OutgoingError("bad_response", "unasked change of protocol");
    if (status >= 200) return { status, headers, headBytes };
  }
}

/** Reads header fields up to the empty line. */
async function readFields(nextLine: () => Promise<string>): Promise<Headers> {
  const headers = new Headers();
  for (let fields = 0; ; fields++) {
    const line = await nextLine();
    if (line === "") return headers;
    if (fields === FIELDS_MAX)
      throw new OutgoingError("head_too_large", `more than ${FIELDS_MAX} header fields`);
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1);
    if (colon < 1 || !isFieldName(name) || !isFieldValue(value)) {
      throw new OutgoingError("bad_response", "a header field cannot be read");
    }
    headers.append(name, value.trim());
  }
}

/** Whether a text is the name of a header field or a method. */
export function isFieldName(text: string): boolean {
  return TOKEN.test(text);
}

/** Whether a text is the value of a header field: one octet a character, none for control but the tab. */
export function isFieldValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

function readStatus(line: string): number {
  const status = STATUS_LINE.exec(line)?.[1];
  if (status === undefined) throw new OutgoingError("bad_response", "the reply is not HTTP/1.1");
  return Number(status);
}
