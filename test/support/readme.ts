import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const PAGES = "src/docs";

/** The README or a page of the documentation; `path` is from the root of the project. */
export type Page = { readonly path: string; readonly text: string };

/** Returns the README and every page of the documentation. */
export function readPages(): readonly Page[] {
  const names = readdirSync(join(ROOT, PAGES)).filter((name) => name.endsWith(".md"));
  const paths = ["README.md", ...names.toSorted().map((name) => `${PAGES}/${name}`)];
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

/** A block of a document of Markdown, as the tests that hold it to the code read it. */
export type Block = {
  readonly language: string;
  readonly text: string;
  /** Where its fence opens, from 1. */
  readonly line: number;
  /** The language of the block right above, where nothing but empty lines stands between. */
  readonly below: string | null;
};

export type Table = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly line: number;
};

/** All that stands between fences, in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
    const above = blocks.at(-1);
    const isBelow = above !== undefined && markdown.slice(end, match.index).trim() === "";
    blocks.push({
      language: match[1] ?? "",
      text: match[2] ?? "",
      line: lineAt(markdown, match.index),
      below: isBelow ? above.language : null,
    });
    end = match.index + match[0].length;
  }
  return blocks;
}

/** Every text between single backticks, each once. */
export function inlineCodesOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, "");
  return [...new Set([...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? ""))];
}

/** Every table that stands outside of fences. */
export function tablesOf(markdown: string): Table[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, (block) => "\n".repeat(block.split("\n").length - 1));
  return [...prose.matchAll(/(?:^\|.*\|$\n?){2,}/gm)].map((match) => {
    const [head = [], , ...rows] = match[0].trim().split("\n").map(cellsOf);
    return { head, rows, line: lineAt(prose, match.index) };
  });
}

/** The words of a cell that stand between backticks. */
export function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? "");
}

function cellsOf(row: string): string[] {
  const inner = row.slice(1, -1).split(/(?<!\\)\|/);
  return inner.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** The anchors of the headings, as GitHub and /docs make them. */
export function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\d _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
