/** Returns the page that the console is drawn in, with the addresses of its script and its style. */
export function consoleHtml({ script, style }: { readonly script: string; readonly style: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Assay console</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body>
<noscript>The console needs JavaScript. The calls behind it do not: see /docs.</noscript>
<div id="console"></div>
</body>
</html>
`;
}
