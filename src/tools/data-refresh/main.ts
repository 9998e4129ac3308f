import { allTables } from "./all-tables.ts";

/** Rebuilds every generated table in place. Run from the project's root. */
for (const { path, build } of allTables) {
  const text = await build();
  const before = await Bun.file(path)
    .text()
    .catch(() => "");
  if (text !== before) await Bun.write(path, text);
  process.stdout.write(`${text === before ? "same   " : "changed"} ${path}\n`);
}
