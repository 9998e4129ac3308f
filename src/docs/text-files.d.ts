declare module "*.md" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import is a default import
  export default text;
}

declare module "*.svg" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import is a default import
  export default text;
}

declare module "*.css" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import is a default import
  export default text;
}

declare module "*/browser.js" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import is a default import
  export default text;
}

declare module "*/reference.js" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import is a default import
  export default text;
}

declare module "*.webp" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: a file import is a default import
  export default path;
}
