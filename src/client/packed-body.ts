import type { BytesBody } from "./transport.ts";

/** Compresses a body where the platform can, and says its digest where Web Crypto is. */
export async function packed(
  bytes: Uint8Array<ArrayBuffer>,
  headers: { readonly [name: string]: string },
): Promise<BytesBody> {
  const canPack = typeof CompressionStream === "function";
  const sent = canPack ? await gzipped(bytes) : bytes;
  const digest = crypto.subtle === undefined ? null : await crypto.subtle.digest("SHA-256", sent);
  return {
    bytes: sent,
    headers: {
      ...headers,
      ...(canPack ? { "Content-Encoding": "gzip" } : {}),
      ...(digest === null ? {} : { "Content-Digest": `sha-256=:${base64(new Uint8Array(digest))}:` }),
    },
  };
}

async function gzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
