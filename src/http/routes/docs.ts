import styleFile from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import scriptFile from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { ApiError } from "../../contract/errors.ts";
import type { Operation } from "../../contract/specification/operation.ts";
import { getSpecification } from "../../contract/specification/service/service.ts";
import type { SearchedOperation } from "../../docs/search-index.ts";
import { loadedOnce } from "../../platform/loaded-once.ts";
import { createAssets } from "../assets.ts";
import type { Call, Handler } from "../call.ts";
import { JSON_TYPE, type Reply } from "../reply.ts";
import { requestPath } from "../request-path.ts";
import type { Route, Routing } from "../routing.ts";

export type DocsRouteDependencies = {
  readonly routing: Routing;
  readonly version: string;
  /** The routes that the specification describes beside its own. */
  readonly described: readonly Route[];
  /** Writes the specification of these operations; that of the verification API unless given. */
  readonly writeDocument?: (operations: readonly Operation[], version: string) => Promise<object>;
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

const createAsset = createAssets(POLICY);

/** Where the site has files. */
const PLACES = [
  "/docs",
  "/docs/:file",
  "/docs/errors/:file",
  "/docs/pictures/:file",
  "/favicon.svg",
  "/favicon.ico",
];

/** The specification, the pages of the documentation, and `/`, which sends a browser to them. */
export function docsRoutes(dependencies: DocsRouteDependencies): readonly Route[] {
  const { routing, version, described, writeDocument = writeOwnDocument } = dependencies;
  const operations = () => described.flatMap(({ operation }) => operation ?? []);
  const specification = createAsset(JSON_TYPE, async () => {
    return Buffer.from(JSON.stringify(await writeDocument([...operations(), getSpecification], version)));
  });
  // Its pages are a tenth of all modules, and read with the first that is asked for.
  const site = loadedOnce(async () => {
    const { siteFiles } = await import("../../docs/site.ts");
    const files = siteFiles(async () => operations().map(searched));
    return new Map(
      files.map(({ path, type, make }) => [path, createAsset(type, async () => Buffer.from(await make()))]),
    );
  });
  const file: Handler = async (call) => {
    const files = await site.get();
    const asset = files.get(requestPath(call.request.url).pathname.replace(/\/$/, ""));
    if (asset === undefined) throw new ApiError("not_found");
    return asset(call);
  };
  const script = createAsset("text/javascript; charset=utf-8", () => Bun.file(scriptFile).bytes());
  const style = createAsset("text/css; charset=utf-8", () => Bun.file(styleFile).bytes());
  return [
    routing.public(getSpecification, specification),
    ...PLACES.map((path) => routing.file(path, file)),
    routing.file("/docs/swagger-ui.js", script),
    routing.file("/docs/swagger-ui.css", style),
    routing.file("/", sendBrowserToDocs),
  ];
}

async function writeOwnDocument(operations: readonly Operation[], version: string): Promise<object> {
  const { openApiDocument } = await import("../../contract/specification/document/document.ts");
  return openApiDocument(operations, version);
}

function searched({ method, path, operationId, tag, summary }: Operation): SearchedOperation {
  return { method, path, operationId, tag, summary };
}

/** Throws `not_found` for anybody else, as where there is no route. */
function sendBrowserToDocs({ request }: Call): Reply {
  const accept = request.headers.get("accept") ?? "";
  if (!accept.toLowerCase().includes("text/html")) throw new ApiError("not_found");
  return { status: 302, body: null, headers: { Location: "/docs", Vary: "Accept" } };
}
