import { HEADERS, PAYMENT_HEADERS } from "../headers.ts";
import { type JsonObject, namedSchemas, writtenRequest } from "../openapi-schema.ts";
import type { Operation } from "../operation.ts";
import { ErrorBody } from "../service/service-replies.ts";
import { PARAMETERS, pathsOf } from "./document.ts";
import { refusalExamples } from "./refusals.ts";

/** What the specification of a paid service says of it as a whole. */
export type ServiceFacts = {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** In a few sentences, what an agent has to know before it calls. */
  readonly guidance: string;
};

/** Tags that every paid service has. */
export const SERVICE_TAGS = {
  payments: { name: "Payments", description: "What became of a payment." },
  operation: {
    name: "Operation",
    description: "For those who run the server, and for programs that look for it.",
  },
};

/** Returns the specification of a paid service, which has no keys: it holds what its operations refer to. */
export function serviceDocument(
  { title, summary, description, tags, guidance }: ServiceFacts,
  operations: readonly Operation[],
  { version, publicUrl }: { readonly version: string; readonly publicUrl: string | null },
): JsonObject {
  const replies = operations.flatMap((operation) =>
    Object.values(operation.replies).flatMap(({ content = {} }) => Object.values(content)),
  );
  const bodies = operations.flatMap(({ body = {} }) => Object.values(body));
  const schemas = {
    ...namedSchemas([ErrorBody, ...replies]),
    ...namedSchemas(bodies, writtenRequest),
  };
  const paths = pathsOf(operations);
  const text = JSON.stringify(paths);
  const used = (kind: string, all: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
    );
  const contact = { name: title, url: `${publicUrl ?? ""}/docs` };
  return {
    openapi: "3.1.0",
    info: {
      title,
      version,
      summary,
      description,
      contact,
      license: { name: "MIT", identifier: "MIT" },
      "x-guidance": guidance,
    },
    servers: [{ url: publicUrl ?? "/", description: "This server." }],
    tags: [...tags],
    paths,
    components: {
      headers: used("headers", { ...HEADERS, ...PAYMENT_HEADERS }),
      parameters: used("parameters", PARAMETERS),
      examples: refusalExamples(text),
      schemas,
    },
  };
}
