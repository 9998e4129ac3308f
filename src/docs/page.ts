import { escaped } from "../platform/html.ts";
import { type Chapter, CONTENTS } from "./contents.ts";

/** A page of the site. */
export type SitePage = {
  /** Its address, such as `/docs/errors/bad_key`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
  /** What it is about, in a line. */
  readonly summary: string;
};

const ERRORS = "errors";

/** Returns every page but the first and the reference: one for each chapter and one for each error code. */
export function sitePages(): readonly SitePage[] {
  const chapters = CONTENTS.flatMap((part) => part.chapters);
  return chapters.flatMap((chapter) => [
    pageOf(chapter),
    ...(chapter.name === ERRORS ? errorPages(chapter) : []),
  ]);
}

function pageOf({ name, markdown, summary }: Chapter): SitePage {
  return { path: `/docs/${name}`, title: titleOf(markdown), markdown, summary };
}

/** The sections of the page of errors, each as a page. */
function errorPages({ markdown }: Chapter): SitePage[] {
  return markdown
    .split("\n## ")
    .slice(1)
    .map((section) => {
      const code = section.split("\n", 1)[0] ?? "";
      return { path: `/docs/${ERRORS}/${code}`, title: code, markdown: `# ${section}`, summary: "" };
    });
}

function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? "";
}

/** Returns the HTML of a page of Markdown. */
export function pageHtml({ path, title, markdown }: SitePage): string {
  const above = path.startsWith(`/docs/${ERRORS}/`)
    ? `<p class="above"><a href="/docs/errors">Errors by code</a></p>`
    : "";
  return frame({
    path,
    title,
    main: `<article>${above}${articleHtml(markdown)}${neighbours(path)}</article>`,
  });
}

/** Returns the HTML of the first page. */
export function firstPageHtml(): string {
  const parts = CONTENTS.map(
    ({ title, chapters }) => `<h2>${title}</h2><ul class="cards">${chapters.map(cardHtml).join("")}</ul>`,
  );
  const main = `<article class="first"><h1>Assay</h1>
<p class="lead">Says of an email address, an identity document or a phone number whether it is real, and why: one at a time or a hundred thousand in one call.</p>
<p class="actions"><a class="button" href="/docs/first-batch">First batch</a> <a class="button plain" href="/docs/reference">Reference</a></p>
${parts.join("\n")}</article>`;
  return frame({ path: "/docs", title: "Documentation", main });
}

function cardHtml({ name, markdown, summary }: Chapter): string {
  return `<li><a href="/docs/${name}"><b>${escaped(titleOf(markdown))}</b><span>${escaped(summary)}</span></a></li>`;
}

/** Returns the page that the reference is drawn in. */
export function referenceHtml(): string {
  return frame({
    path: "/docs/reference",
    title: "Reference",
    main: `<article class="reference"><h1>Reference</h1>
<p>Every call, from the <a href="/openapi.json">specification</a> (OpenAPI 3.1). Calls that you try go to this server with your key.</p>
<noscript><p>The reference needs JavaScript; the specification does not.</p></noscript>
<div id="reference"></div></article>`,
    head: '<link rel="stylesheet" href="/docs/swagger-ui.css">',
    scripts: ["/docs/swagger-ui.js", "/docs/reference.js"],
  });
}

type Frame = {
  readonly path: string;
  readonly title: string;
  readonly main: string;
  readonly head?: string;
  readonly scripts?: readonly string[];
};

function frame({ path, title, main, head = "", scripts = [] }: Frame): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Assay</title>
<link rel="icon" href="/favicon.svg">
${head}<link rel="stylesheet" href="/docs/site.css">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header>
<button id="menu" type="button" aria-controls="contents" aria-expanded="false" aria-label="Contents"><span></span></button>
<a class="brand" href="/docs"><img src="/favicon.svg" alt="" width="28" height="28">Assay</a>
<div class="search" role="search"><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><ol id="found" hidden></ol></div>
<label class="key"><span>Your key</span><input id="key" type="password" placeholder="asy_… (your key)" aria-label="Your key" autocomplete="off" spellcheck="false" title="Kept in this tab alone. It is put into the samples and the calls that you try."></label>
</header>
<nav id="contents" aria-label="Contents">${navigation(path)}</nav>
<main id="main">${main}</main>
${["/docs/site.js", ...scripts].map((source) => `<script src="${source}"></script>`).join("\n")}
</body>
</html>
`;
}

function navigation(path: string): string {
  const link = (to: string, text: string) => {
    const isHere = path === to || path.startsWith(`${to}/`);
    return `<li><a href="${to}"${isHere ? ' aria-current="page"' : ""}>${escaped(text)}</a></li>`;
  };
  const parts = CONTENTS.map(
    ({ title, chapters }) =>
      `<p>${title}</p><ul>${chapters.map(({ name, markdown }) => link(`/docs/${name}`, titleOf(markdown))).join("")}</ul>`,
  );
  return `<ul>${link("/docs/reference", "Reference")}</ul>${parts.join("")}`;
}

function neighbours(path: string): string {
  const chapters = CONTENTS.flatMap((part) => part.chapters);
  const here = chapters.findIndex(({ name }) => path === `/docs/${name}`);
  if (here === -1) return "";
  const link = (chapter: Chapter | undefined, rel: string) =>
    chapter === undefined
      ? "<span></span>"
      : `<a rel="${rel}" href="/docs/${chapter.name}">${escaped(titleOf(chapter.markdown))}</a>`;
  return `<p class="neighbours">${link(chapters[here - 1], "prev")}${link(chapters[here + 1], "next")}</p>`;
}

/** Languages of samples that do the same and stand next to each other. */
const SAMPLE = '<pre><code class="language-(?:sh|ts|python)">[\\s\\S]*?</code></pre>\\s*';
const SAMPLES = new RegExp(`(?:${SAMPLE}){2,}`, "g");

/** Turns Markdown into the HTML of an article: links between pages, tables that scroll, samples side by side. */
function articleHtml(markdown: string): string {
  // The renderer reads one word behind a fence.
  const marked = markdown
    .replace(/^```(\w+) (refused|taken)$/gm, "```$1-$2")
    .replace(/^```(\w+) receiver$/gm, "```$1");
  return Bun.markdown
    .html(marked)
    .replace(/<h([1-6])>(.*?)<\/h\1>/g, (_, level: string, inner: string) => {
      const id = anchorOf(inner.replace(/<[^>]*>|&\w+;/g, ""));
      return `<h${level} id="${id}"><a href="#${id}">${inner}</a></h${level}>`;
    })
    .replace(/href="([\w-]+)\.md(#[^"]*)?"/g, 'href="/docs/$1$2"')
    .replace(/(?<=<(?:img src|a href)=")pictures\//g, "/docs/pictures/")
    .replaceAll("<img ", '<img loading="lazy" ')
    .replaceAll("<table>", '<div class="table"><table>')
    .replaceAll("</table>", "</table></div>")
    .replace(
      /<pre><code class="language-(\w+)-(refused|taken)">/g,
      '<pre class="$2"><code class="language-$1">',
    )
    .replace(SAMPLES, (samples) => `<div class="samples">${samples}</div>`);
}

/** Returns the anchor that a heading gets, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\d _-]/gu, "")
    .replaceAll(" ", "-");
}
