import { anchorOf, type SitePage, sitePages } from "./page.ts";

/** A section that the search can find. */
export type SearchEntry = {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  /** What a whole page is about, with its first section; empty with the others. */
  readonly about: string;
};

/** What the search needs of an operation of the specification. */
export type SearchedOperation = {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
};

/** Returns every section of every page, and every operation. */
export function searchIndex(operations: readonly SearchedOperation[]): readonly SearchEntry[] {
  const chapters = sitePages().filter(({ path }) => !path.startsWith("/docs/errors/"));
  return [...operations.map(operationEntry), ...chapters.flatMap(sectionsOf)];
}

function operationEntry({ method, path, operationId, tag, summary }: SearchedOperation): SearchEntry {
  const anchor = `#/${encodeURIComponent(tag)}/${operationId}`;
  return {
    path: `/docs/reference${anchor}`,
    title: "Reference",
    heading: `${method} ${path}`,
    text: summary,
    about: "",
  };
}

function sectionsOf({ path, title, markdown, summary }: SitePage): SearchEntry[] {
  return markdown.split(/^#{1,3} /m).flatMap((section) => {
    const [heading = "", ...lines] = section.split("\n");
    if (heading === "") return [];
    const isFirst = heading === title;
    return [
      {
        path: isFirst ? path : `${path}#${anchorOf(heading)}`,
        title,
        heading: heading.replaceAll("`", ""),
        text: plain(lines.join(" ")),
        about: isFirst ? summary : "",
      },
    ];
  });
}

function plain(markdown: string): string {
  return markdown
    .replace(/\]\([^)]*\)/g, "")
    .replace(/[`*|[\]]|-{3,}/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}
