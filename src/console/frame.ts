/** Returns the page that the console is drawn in. */
export function consoleHtml(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Assay console</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/console/page.css">
<script type="module" src="/console/page.js"></script>
</head>
<body>
<noscript>The console needs JavaScript. The calls behind it do not: see /docs.</noscript>
<div id="console"></div>
</body>
</html>
`;
}
