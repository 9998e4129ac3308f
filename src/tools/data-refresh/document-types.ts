import { DOCUMENT_TYPES } from "../../contract/words.ts";
import type { GeneratedTable } from "./generated-table.ts";

/** What is made from the names of the document types, and from what each type's own file says of it. */
export const tables: readonly GeneratedTable[] = [
  { path: "src/verification/documents/all-documents.ts", build: buildRegistry },
  { path: "src/docs/identity.md", build: buildPage },
];

const FOLDER = new URL("../../verification/documents/", import.meta.url);
const PAGE = new URL("../../docs/identity.md", import.meta.url);
const BEGIN = "<!-- types:begin -->\n";
const END = "<!-- types:end -->";

function buildRegistry(): string {
  const names = DOCUMENT_TYPES.map((type) => [type, `./${type}.ts`] as const);
  const imports = [["type DocumentCheck", "./document-check.ts"] as const, ...names]
    .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
    .map(([name, file]) => `import ${name.replace(/^type (.*)/, "type { $1 }")} from "${file}";`)
    .map((line) => line.replace(/^import (\w+) from/, "import { $1 } from"));
  return `// Made from DOCUMENT_TYPES by \`bun run data:refresh\`; do not edit.
import type { DocumentType } from "../../contract/words.ts";
${imports.join("\n")}

/** Every type of document there is. */
export const documents: { readonly [T in DocumentType]: DocumentCheck<T> } = {
${DOCUMENT_TYPES.map((type) => `  ${type},`).join("\n")}
};
`;
}

/** The page with one row a type. */
async function buildPage(): Promise<string> {
  const page = await Bun.file(PAGE).text();
  const rows = await Promise.all(DOCUMENT_TYPES.map(rowOf));
  const table = [
    "| type | what is checked | `strength` | `data_version` |",
    "|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
    "",
  ].join("\n");
  const begin = page.indexOf(BEGIN) + BEGIN.length;
  return page.slice(0, begin) + table + page.slice(page.indexOf(END));
}

/** What the docstring of a type says behind `@checked`, `@strength` and `@registry`, each in one line. */
async function rowOf(type: string): Promise<readonly string[]> {
  const file = new URL(`${type}.ts`, FOLDER);
  const text = await Bun.file(file).text();
  const said = (tag: string) => new RegExp(`^ \\* @${tag} (.+)$`, "m").exec(text)?.[1];
  const checked = said("checked");
  if (checked === undefined)
    throw new Error(`src/verification/documents/${type}.ts says nothing behind @checked`);
  const check = (await import(file.href))[type] as { readonly unread: { readonly strength: string } };
  return [
    `\`${type}\``,
    checked,
    said("strength") ?? `\`${check.unread.strength}\``,
    said("registry") ?? "–",
  ];
}
