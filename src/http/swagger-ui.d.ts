declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: a file import is a default import
  export default path;
}

declare module "swagger-ui-dist/swagger-ui.css" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: a file import is a default import
  export default path;
}
