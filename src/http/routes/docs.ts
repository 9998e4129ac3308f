import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type AnyElysia, Elysia } from "elysia";
import styleFile from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import scriptFile from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { getSpecification } from "../../contract/specification/service.ts";
import type { PublicGate } from "../auth.ts";
import type { Boundary, Call } from "../boundary.ts";
import { page, startScript } from "../docs-page.ts";
import { isCurrent, weightOf } from "../negotiation.ts";
import { JSON_TYPE, type Reply } from "../reply.ts";

export type DocsRouteParts = {
  readonly boundary: Boundary;
  readonly admit: PublicGate;
  readonly version: string;
  /** The app whose routes are described, once all of them are mounted. */
  readonly app: () => AnyElysia;
};

/** Only what this server serves itself, and nobody may frame the page that asks for a key. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The specification and a page that shows it: made when first asked for, then the same bytes for everyone. */
export function docsRoutes({ boundary, admit, version, app }: DocsRouteParts) {
  const route = (path: string, asset: (call: Call) => Promise<Reply>) =>
    boundary.route(path, (call) => {
      admit(call);
      return asset(call);
    });
  const hidden = { detail: { hide: true } };
  const specification = createAsset(JSON_TYPE, async () => {
    const { openApiDocument } = await import("../../contract/specification/document.ts");
    return Buffer.from(JSON.stringify(openApiDocument(app(), version)));
  });
  const html = createAsset("text/html; charset=utf-8", async () => Buffer.from(page));
  const start = createAsset("text/javascript; charset=utf-8", async () => Buffer.from(startScript));
  const script = createAsset("text/javascript; charset=utf-8", () => Bun.file(scriptFile).bytes());
  const style = createAsset("text/css; charset=utf-8", () => Bun.file(styleFile).bytes());
  return new Elysia({ name: "docs" })
    .get("/openapi.json", route("/openapi.json", specification), { detail: getSpecification })
    .get("/docs", route("/docs", html), hidden)
    .get("/docs/start.js", route("/docs/start.js", start), hidden)
    .get("/docs/swagger-ui.js", route("/docs/swagger-ui.js", script), hidden)
    .get("/docs/swagger-ui.css", route("/docs/swagger-ui.css", style), hidden);
}

type Made = { readonly bytes: Uint8Array; readonly zipped: Uint8Array; readonly tag: string };

/** Bytes with their compressed form and their tag; made once, by the first call that asks. */
function createAsset(type: string, make: () => Promise<Uint8Array>): (call: Call) => Promise<Reply> {
  let made: Promise<Made> | undefined;
  return async ({ request }) => {
    made ??= prepare(make);
    const { bytes, zipped, tag } = await made.catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    const takesGzip = weightOf(request.headers.get("accept-encoding") ?? "", "gzip") > 0;
    const etag = takesGzip ? `"${tag}-gzip"` : `"${tag}"`;
    const headers = {
      "Content-Type": type,
      "Content-Security-Policy": POLICY,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
      Vary: "Accept-Encoding",
      ETag: etag,
      ...(takesGzip ? { "Content-Encoding": "gzip" } : {}),
    };
    if (isCurrent(request, etag)) return { status: 304, body: null, headers };
    return { status: 200, body: takesGzip ? zipped : bytes, headers };
  };
}

async function prepare(make: () => Promise<Uint8Array>): Promise<Made> {
  const bytes = await make();
  const zipped = await promisify(gzip)(bytes);
  return { bytes, zipped, tag: Bun.hash(bytes).toString(36) };
}
