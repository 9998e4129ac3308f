/** The page of /docs. It loads the script and the style sheet that this server serves, and nothing else. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assay API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>
body { margin: 0; background: #fafafa; }
.swagger-ui .info { margin: 2rem 0 1rem; }
.swagger-ui .scheme-container { padding: 1rem 0; box-shadow: none; background: none; }
</style>
</head>
<body>
<noscript>This page needs JavaScript. The specification itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="docs"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Draws the specification; calls that are tried go to this server with the reader's own key. */
export const startScript = `"use strict";
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  filter: true,
  requestSnippetsEnabled: true,
  syntaxHighlight: { activated: true, theme: "agate" },
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;
