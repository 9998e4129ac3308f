/** Draws the specification; calls that are tried go to this server with the reader's key. */
(() => {
  const KEY = "assay-key";
  const SCHEME = "key";

  /** A key that is given in the reference's own form is kept in the tab, as one from the field above. */
  const keepKey = () => ({
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (authorize) => (given) => {
            const value = Object.values(given)[0]?.value;
            if (typeof value === "string") {
              sessionStorage.setItem(KEY, value);
              dispatchEvent(new Event(KEY));
            }
            return authorize(given);
          },
        },
      },
    },
  });

  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const darken = () => document.documentElement.classList.toggle("dark-mode", darkness.matches);
  darkness.addEventListener("change", darken);
  darken();

  const ui = SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#reference",
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    docExpansion: "list",
    filter: true,
    requestSnippetsEnabled: true,
    syntaxHighlight: { activated: true, theme: "agate" },
    tryItOutEnabled: true,
    validatorUrl: null,
    plugins: [keepKey],
    onComplete: () => {
      const key = sessionStorage.getItem(KEY);
      if (key) ui.preauthorizeApiKey(SCHEME, key);
    },
  });
  document.getElementById("key").addEventListener("change", ({ target }) => {
    const key = target.value.trim();
    if (key !== "") ui.preauthorizeApiKey(SCHEME, key);
  });
})();
