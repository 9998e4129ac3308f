import { type Check, fail, pass, warn } from "../check.ts";
import { exchangeOf, type Fields, isFields, jsonOf, written } from "../evidence.ts";

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

export type PaidOperation = { readonly method: string; readonly path: string; readonly operation: Fields };

/** Returns the operations of an OpenAPI document, at most 200. */
export function operationsOf(json: Fields): readonly PaidOperation[] {
  const paths = isFields(json.paths) ? Object.entries(json.paths) : [];
  return paths.slice(0, 200).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = isFields(item) ? item[method] : undefined;
      return isFields(operation) ? [{ method: method.toUpperCase(), path, operation }] : [];
    }),
  );
}

export function isMarked(operation: Fields): boolean {
  return isFields(operation["x-payment-info"]);
}

function has402(operation: Fields): boolean {
  return isFields(operation.responses) && operation.responses["402"] !== undefined;
}
