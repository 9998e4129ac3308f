/** The tab-separated rows of a file under test/vectors/documents, without blank lines and `#` comments. */
export async function readDocumentVectors(name: string): Promise<string[][]> {
  const text = await Bun.file(`${import.meta.dir}/../vectors/documents/${name}`).text();
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
}
