declare module "*.sql" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import is a default import
  export default text;
}
