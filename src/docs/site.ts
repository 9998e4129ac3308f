import script from "./browser.js" with { type: "text" };
import icon from "./favicon.svg" with { type: "text" };
import frameLook from "./look/frame.css" with { type: "text" };
import pageLook from "./look/page.css" with { type: "text" };
import referenceLook from "./look/reference.css" with { type: "text" };
import { firstPageHtml, pageHtml, referenceHtml, sitePages } from "./page.ts";
import { PICTURES } from "./pictures.ts";
import referenceScript from "./reference.js" with { type: "text" };
import { type SearchedOperation, searchIndex } from "./search-index.ts";

/** A file of the site. It is made when it is first asked for. */
export type SiteFile = {
  readonly path: string;
  readonly type: string;
  readonly make: () => string | Promise<string | Uint8Array>;
};

const HTML = "text/html; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";
const SVG = "image/svg+xml; charset=utf-8";
/** The frame's rules and the reference's hold against those of the text, which come first. */
const LOOK = pageLook + frameLook + referenceLook;

/** Returns every file of the documentation but those of the reference's own library. */
export function siteFiles(operations: () => Promise<readonly SearchedOperation[]>): readonly SiteFile[] {
  return [
    { path: "/docs", type: HTML, make: firstPageHtml },
    { path: "/docs/reference", type: HTML, make: referenceHtml },
    ...sitePages().map((page) => ({ path: page.path, type: HTML, make: () => pageHtml(page) })),
    { path: "/docs/site.css", type: "text/css; charset=utf-8", make: () => LOOK },
    { path: "/docs/site.js", type: JAVASCRIPT, make: () => script },
    { path: "/docs/reference.js", type: JAVASCRIPT, make: () => referenceScript },
    {
      path: "/docs/search.json",
      type: "application/json; charset=utf-8",
      make: async () => JSON.stringify(searchIndex(await operations())),
    },
    ...Object.entries(PICTURES).map(([name, file]) => ({
      path: `/docs/pictures/${name}.webp`,
      type: "image/webp",
      make: () => Bun.file(file).bytes(),
    })),
    { path: "/favicon.svg", type: SVG, make: () => icon },
    { path: "/favicon.ico", type: SVG, make: () => icon },
  ];
}
