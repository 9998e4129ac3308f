import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Call } from "./call.ts";
import { replyEncoding } from "./compression.ts";
import { isCurrent } from "./negotiation.ts";
import type { Reply } from "./reply.ts";

/** Blobs, whose memory all connections share: of an array the runtime makes a copy for each reply. */
type Made = { readonly plain: Blob; readonly zipped: Blob; readonly tag: string };
type CreateAsset = (type: string, make: () => Promise<Uint8Array>) => (call: Call) => Promise<Reply>;

/** Returns the tag of a file: a hash of its content. */
export function tagOf(bytes: Uint8Array): string {
  return Bun.hash(bytes).toString(36);
}

/**
 * Creates the files of a page under a content security policy. Their bytes, compressed form and tag are made once, by the
 * first call. A file that is requested by its tag, `?v=<tag>`, may be cached for ever.
 */
export function createAssets(policy: string): CreateAsset {
  return (type, make) => {
    let made: Promise<Made> | undefined;
    return async ({ request }) => {
      made ??= prepare(make);
      const { plain, zipped, tag } = await made.catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      const takesGzip = replyEncoding(request) === "gzip";
      const etag = takesGzip ? `"${tag}-gzip"` : `"${tag}"`;
      const headers = {
        "Content-Type": type,
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": request.url.endsWith(`?v=${tag}`) ? "max-age=31536000, immutable" : "no-cache",
        Vary: "Accept-Encoding",
        ETag: etag,
        ...(takesGzip ? { "Content-Encoding": "gzip" } : {}),
      };
      if (isCurrent(request, etag)) return { status: 304, body: null, headers };
      return { status: 200, body: takesGzip ? zipped : plain, headers };
    };
  };
}

async function prepare(make: () => Promise<Uint8Array>): Promise<Made> {
  const bytes = await make();
  const zipped = await promisify(gzip)(bytes);
  return { plain: new Blob([bytes]), zipped: new Blob([zipped]), tag: tagOf(bytes) };
}
