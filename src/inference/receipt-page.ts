import type { Receipt, ReceiptCheck } from "../contract/receipt.ts";
import { escaped } from "../platform/html.ts";

/** The content of the page. */
export type ReceiptPage = {
  readonly receipt_id: string;
  readonly valid: boolean;
  readonly receipt: Receipt | null;
  readonly jws: string;
  readonly checks: readonly ReceiptCheck[];
};

const QUESTIONS: { readonly [Check in ReceiptCheck["check"]]: string } = {
  format: "Is it a receipt?",
  signature: "Did this service sign it?",
  issued: "Was it issued here, to the letter?",
  chain: "Does it follow the receipt before it?",
  payment: "Was the payment settled?",
  request: "Is it about this request?",
  response: "Is it about this answer?",
};

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:2rem auto;max-width:46rem;padding:0 1rem}
h1{font-size:1.5rem}
.good{color:light-dark(#176b2c,#7bd88f)}.bad{color:light-dark(#a11d1d,#ff9a9a)}
table{border-collapse:collapse;width:100%}
th,td{padding:.4rem .6rem .4rem 0;text-align:left;vertical-align:top;border-bottom:1px solid light-dark(#ddd,#444);overflow-wrap:anywhere}
th{font-weight:600;width:13rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
@media(max-width:30rem){th{width:auto}}`;

/** Renders the checks of a receipt as a page without scripts. */
export function receiptPage({ receipt_id, valid, receipt, jws, checks }: ReceiptPage): string {
  const verdict = valid ? "This receipt is valid" : "This receipt is not valid";
  const rows = checks
    .map(
      ({ check, passed, detail }) =>
        `<tr><th scope="row">${escaped(QUESTIONS[check])}</th><td class="${passed ? "good" : "bad"}">${passed ? "Yes" : "No"}. ${escaped(detail)}</td></tr>`,
    )
    .join("");
  const fields = Object.entries(receipt ?? {})
    .map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(shown(value))}</td></tr>`)
    .join("");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${verdict}: ${escaped(receipt_id)}</title><style>${STYLE}</style></head>
<body><main>
<h1 class="${valid ? "good" : "bad"}">${verdict}</h1>
<p>It says who paid what for one call, and which request and answer it was, by their hashes. No word of either is kept here.</p>
<h2>What was checked</h2>
<table>${rows}</table>
<h2>What it says</h2>
<table>${fields}</table>
<h2>The receipt as it was signed</h2>
<pre>${escaped(jws)}</pre>
<p>Its key is at <a href="/.well-known/jwks.json">/.well-known/jwks.json</a>; any JOSE library checks the signature (EdDSA). The roots of each day are at <a href="/v1/receipts/roots">/v1/receipts/roots</a>.</p>
</main></body></html>
`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
