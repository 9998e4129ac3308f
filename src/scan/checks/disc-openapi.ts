import { isObject, type JsonObject } from "../../platform/json-value.ts";
import { type Check, fail, pass, warn } from "../check.ts";
import { exchangeOf, jsonOf, written } from "../evidence.ts";

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

export const discOpenapi: Check = {
  id: "disc.openapi",
  title: "The OpenAPI document says what is paid",
  weight: 3,
  expected: "OpenAPI 3 with x-payment-info and a 402 on every paid operation",
  fix: 'Add "x-payment-info": {"price": {"mode": "fixed", "currency": "USD", "amount": "0.01"}, "protocols": [{"x402": {}}]} and a 402 response.',
  find(evidence) {
    const file = exchangeOf(evidence, "openapi");
    const json = file?.status === 200 ? jsonOf(file) : null;
    if (file === null || json === null) return fail(file, "absent or no JSON");
    if (!/^3\./.test(written(json.openapi)))
      return fail(file, `openapi ${written(json.openapi).slice(0, 20)}`);
    const paid = operationsOf(json).filter(({ operation }) => isMarked(operation) || has402(operation));
    if (paid.length === 0) return warn(file, "no operation is marked as paid");
    const partial = paid.find(({ operation }) => !isMarked(operation) || !has402(operation));
    if (partial === undefined) return pass(file, `${paid.length} paid operations`);
    return warn(file, `${partial.method} ${partial.path} lacks x-payment-info or a 402`);
  },
};

export type PaidOperation = {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
};

/** Returns the operations of an OpenAPI document, of at most 200 paths. */
export function operationsOf(json: JsonObject): readonly PaidOperation[] {
  const paths = isObject(json.paths) ? Object.entries(json.paths) : [];
  return paths.slice(0, 200).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = isObject(item) ? item[method] : undefined;
      return isObject(operation) ? [{ method: method.toUpperCase(), path, operation }] : [];
    }),
  );
}

/**
 * Returns the operations to probe: those with `x-payment-info`, or without any such, those with a 402. Paths without
 * parameters come first, as values of parameters cannot be guessed.
 */
export function paidOperations(json: JsonObject): readonly PaidOperation[] {
  const all = operationsOf(json).filter(({ method }) => method === "GET" || method === "POST");
  const marked = all.filter(({ operation }) => isMarked(operation));
  const paid = marked.length > 0 ? marked : all.filter(({ operation }) => has402(operation));
  const isOpen = ({ path }: PaidOperation) => path.includes("{");
  return [...paid.filter((one) => !isOpen(one)), ...paid.filter(isOpen)];
}

/** Of the address of a server: it is put before each path, of which there may be 200. */
const SERVER_LENGTH_MAX = 2048;

/**
 * Returns the base path on a host: that of its first server, without a trailing slash. Servers with an address of more than
 * 2,048 characters are passed over.
 */
export function basePathOf(json: JsonObject, origin: string): string {
  const servers = Array.isArray(json.servers) ? json.servers.slice(0, 20) : [];
  const { hostname } = new URL(origin);
  for (const server of servers) {
    const text = isObject(server) ? server.url : undefined;
    if (typeof text !== "string" || text.length > SERVER_LENGTH_MAX || text.includes("{")) continue;
    const url = URL.parse(text, origin);
    if (url?.hostname === hostname) return withoutFinalSlashes(url.pathname);
  }
  return "";
}

/** Looks at each character once: a pattern that ends with `$` is tried from each slash anew. */
function withoutFinalSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function isMarked(operation: JsonObject): boolean {
  return isObject(operation["x-payment-info"]);
}

function has402(operation: JsonObject): boolean {
  return isObject(operation.responses) && operation.responses["402"] !== undefined;
}
