import type { Operation } from "../../contract/specification/operation.ts";
import { getManifest } from "../../contract/specification/payments/discovery.ts";
import type { Handler } from "../call.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type DiscoveryDependencies = {
  readonly routing: Pick<Routing, "public" | "file">;
  readonly originOf: (request: Request) => string;
  readonly title: string;
  readonly guidance: string;
  /** All operations of the server; those with a price are what it sells. */
  readonly operations: readonly Operation[];
};

/** What agents look for at a paid service: the manifest, llms.txt, robots.txt and the catalogue of its documents. */
export function discoveryRoutes(dependencies: DiscoveryDependencies): readonly Route[] {
  const { routing, originOf, title, guidance, operations } = dependencies;
  const paid = operations.filter(({ price }) => price !== undefined);
  const paths = [...new Set(paid.map(({ path }) => path))];
  const text = (write: (origin: string) => string): Handler => {
    const headers = { "Content-Type": "text/plain; charset=utf-8" };
    return ({ request }) => ({ status: 200, body: write(originOf(request)), headers });
  };
  return [
    routing.public(getManifest, ({ request }) => {
      const origin = originOf(request);
      return json({ version: 1, resources: paths.map((path) => `${origin}${path}`), instructions: guidance });
    }),
    routing.file(
      "/robots.txt",
      text(() => "User-agent: *\nAllow: /\n"),
    ),
    routing.file(
      "/llms.txt",
      text((origin) => llmsText(title, guidance, paid, origin)),
    ),
    routing.file("/.well-known/api-catalog", ({ request }) => ({
      status: 200,
      body: JSON.stringify(catalogOf(originOf(request))),
      headers: { "Content-Type": "application/linkset+json" },
    })),
  ];
}

function llmsText(title: string, guidance: string, paid: readonly Operation[], origin: string): string {
  const lines = paid.map(
    ({ method, path, summary }) => `- [${method} ${path}](${origin}${path}): ${summary}`,
  );
  return `# ${title}

> ${guidance}

## Paid calls

${lines.join("\n")}

## Documents

- [OpenAPI](${origin}/openapi.json): every call, with its price
- [Guides](${origin}/docs): how to call and to pay
`;
}

/** A linkset (RFC 9727, RFC 9264). */
function catalogOf(origin: string) {
  return {
    linkset: [
      {
        anchor: `${origin}/`,
        "service-desc": [{ href: `${origin}/openapi.json`, type: "application/json" }],
        "service-doc": [{ href: `${origin}/docs`, type: "text/html" }],
        status: [{ href: `${origin}/health`, type: "application/json" }],
      },
    ],
  };
}
