import { escaped } from "../platform/html.ts";
import type { CheckView, ScanView } from "./report.ts";

/** The fields of a stored report that its page shows. */
export type PagedReport = ScanView & { readonly report_id: string; readonly expires_at: string };

const MARKS = { pass: "pass", warn: "warn", fail: "fail", na: "n/a", blocked: "blocked" } as const;
const FIRST_FIXES_MAX = 5;

const STYLE = `
:root { color-scheme: light dark; --bad: #b3261e; --odd: #8a5a00; --good: #1b6e3c; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --odd: #ffc56e; --good: #7ddc9f; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
header { display: flex; gap: 1.5rem; align-items: center; flex-wrap: wrap; }
.grade { font-size: 6rem; line-height: 1; font-weight: 700; }
.A, .B, .pass { color: var(--good); } .C, .D, .warn, .blocked { color: var(--odd); } .F, .fail { color: var(--bad); }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { margin-top: 2rem; }
pre, code { font: 0.875rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
pre { background: #8881; padding: 0.5rem; border-radius: 4px; margin: 0.25rem 0; }
details { border-top: 1px solid var(--line); padding: 0.5rem 0; break-inside: avoid; }
summary { cursor: pointer; display: grid; grid-template-columns: 4.5rem 1fr auto; gap: 0.5rem; }
.mark { font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { color: #777; } dd { margin: 0; overflow-wrap: anywhere; }
footer { margin-top: 2rem; font-size: 0.875rem; color: #777; }
@media print { body { margin: 0; max-width: none; } details::details-content { content-visibility: visible; height: auto; } }
`;

/** The content security policy of the page, which loads nothing. */
export const REPORT_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Renders a report as a page without scripts: the grade, what to fix first, and each check with its evidence. */
export function reportPage(report: PagedReport): string {
  const { origin, grade, score, confidence, checks, caps, scanned_at } = report;
  const open = checks.filter(({ status }) => status === "fail" || status === "warn");
  const first = [...open].sort((one, other) => lossOf(other) - lossOf(one)).slice(0, FIRST_FIXES_MAX);
  const title = `${escaped(origin)}: grade ${grade}`;
  const low = confidence === "low" ? " The target refused our calls: this says little of the service." : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<meta property="og:title" content="${title}">
<meta property="og:description" content="${score} of 100 in ${checks.length} checks of a service that is paid by x402.">
<style>${STYLE}</style>
</head>
<body>
<header>
<div class="grade ${grade}" aria-label="Grade ${grade}">${grade}</div>
<div><h1>${escaped(origin)}</h1>
<p>${score} of 100, scanned <time datetime="${escaped(scanned_at)}">${escaped(scanned_at.slice(0, 16).replace("T", " "))} UTC</time>.${low}</p></div>
</header>
${caps.map(({ check, grade: cap }) => `<p class="fail">${escaped(check)} failed: no grade above ${cap}.</p>`).join("\n")}
${first.length === 0 ? "<h2>Nothing to fix</h2>" : `<h2>Fix first</h2>\n<ol>${first.map(fixHtml).join("\n")}</ol>`}
<h2>All checks</h2>
${checks.map(checkHtml).join("\n")}
<footer>
<p>Rules ${escaped(report.rules_version)}. <a href="?format=json">JSON, signed</a>. <a href="/v1/report/${escaped(report.report_id)}/evidence">Evidence</a>. <a href="/docs/scanning">How the score is made</a>.</p>
</footer>
</body>
</html>
`;
}

function fixHtml({ id, title, fix }: CheckView): string {
  return `<li><a href="#${escaped(id)}">${escaped(title)}</a><br>${escaped(fix)}</li>`;
}

function checkHtml({ id, title, status, weight, evidence, fix, repeat }: CheckView): string {
  const { method, url, status: code, ms, headers, observed, expected } = evidence;
  const seen =
    url === null
      ? ""
      : `${method} ${url}: ${code ?? "no reply"}${ms === null ? "" : `, ${Math.round(ms)} ms`}`;
  const rows = [
    ["Expected", expected],
    ["Observed", observed],
    ...(seen === "" ? [] : [["Request", seen]]),
    ...(status === "pass" || status === "na" ? [] : [["Fix", fix]]),
  ];
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `<details id="${escaped(id)}">
<summary><span class="mark ${status}">${MARKS[status]}</span><span>${escaped(title)}</span><span>${weight}</span></summary>
<dl>${rows.map(([name = "", text = ""]) => `<dt>${name}</dt><dd>${escaped(text)}</dd>`).join("")}</dl>
${fields.length === 0 ? "" : `<pre>${escaped(fields.join("\n"))}</pre>`}
<p>Repeat it:</p><pre>${escaped(repeat)}</pre>
</details>`;
}

function lossOf({ status, weight }: CheckView): number {
  return status === "fail" ? weight : weight / 2;
}
