/** Acts in the reader's browser: the key and the address in samples, tabs, copying, the search, the contents. */
(() => {
  const KEY = "assay-key";
  const SAMPLE_KEY = "asy_YOUR_KEY";
  const SAMPLE_URL = "http://127.0.0.1:3000";
  const NAMES = { sh: "curl", ts: "TypeScript", python: "Python" };
  const byId = (id) => document.getElementById(id);

  // The key stays in this tab: it is gone when the tab is closed, and no other page has it.
  const field = byId("key");
  field.value = sessionStorage.getItem(KEY) ?? "";
  const codes = [...document.querySelectorAll("pre code")].map((element) => ({
    element,
    text: element.textContent,
  }));
  const fillIn = () => {
    const key = field.value.trim();
    for (const { element, text } of codes) {
      const filled = text.replaceAll(SAMPLE_URL, location.origin);
      element.textContent = key === "" ? filled : filled.replaceAll(SAMPLE_KEY, key);
    }
  };
  field.addEventListener("input", () => {
    const key = field.value.trim();
    if (key === "") sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, key);
    fillIn();
  });
  addEventListener("assay-key", () => {
    field.value = sessionStorage.getItem(KEY) ?? "";
    fillIn();
  });
  fillIn();
  // A page that the browser kept whole and shows again still has the key that it was left with.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && field.value.trim() !== (sessionStorage.getItem(KEY) ?? "")) location.reload();
  });

  const showLanguage = (language) => {
    for (const group of document.querySelectorAll(".samples")) {
      const blocks = [...group.querySelectorAll("pre")];
      const shown = blocks.find((block) => block.dataset.language === language) ?? blocks[0];
      for (const block of blocks) block.hidden = block !== shown;
      for (const tab of group.querySelectorAll("[role=tab]")) {
        const isShown = tab.dataset.language === shown.dataset.language;
        tab.setAttribute("aria-selected", String(isShown));
        tab.tabIndex = isShown ? 0 : -1;
      }
    }
  };
  for (const group of document.querySelectorAll(".samples")) {
    const tabs = document.createElement("div");
    tabs.setAttribute("role", "tablist");
    tabs.setAttribute("aria-label", "Language");
    tabs.addEventListener("keydown", ({ key, target }) => {
      const step = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[key];
      const next = step === undefined ? null : target[step];
      next?.focus();
      next?.click();
    });
    for (const block of group.querySelectorAll("pre")) {
      const language = block.firstElementChild.className.replace("language-", "");
      block.dataset.language = language;
      const tab = document.createElement("button");
      tab.type = "button";
      tab.setAttribute("role", "tab");
      tab.dataset.language = language;
      tab.textContent = NAMES[language] ?? language;
      tab.addEventListener("click", () => {
        sessionStorage.setItem("assay-language", language);
        showLanguage(language);
      });
      tabs.append(tab);
    }
    group.prepend(tabs);
  }
  showLanguage(sessionStorage.getItem("assay-language") ?? "sh");

  for (const block of document.querySelectorAll("article pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = block.querySelector("code");
      try {
        // Browsers have it on https and on this machine alone.
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected: press Ctrl+C";
      }
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    });
    block.append(button);
  }

  // A table that scrolls must be within reach of the keyboard, and one that does not is no stop on its way.
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const table of document.querySelectorAll(".table")) sizes.observe(table);

  const menu = byId("menu");
  menu.addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(isOpen));
  });

  const search = byId("search");
  const found = byId("found");
  let index;
  const entries = () => {
    index ??= fetch("/docs/search.json").then((reply) => reply.json());
    return index;
  };
  /** From 0 to 1: a word that is often in a short text counts more than one that is once in a long one. */
  const shareOf = ({ text }, word) => {
    const places = text.toLowerCase().split(word).length - 1;
    return places === 0 ? 0 : places / (places + text.length / 500);
  };
  /** Every word must occur; in a heading, in what a page is about or in a title it counts more than in the text. */
  const scoreOf = (entry, words) => {
    let score = 0;
    for (const word of words) {
      const inHeading = entry.heading.toLowerCase().includes(word);
      const inTitle = entry.title.toLowerCase().includes(word);
      const inAbout = entry.about.toLowerCase().includes(word);
      const share = shareOf(entry, word);
      if (!inHeading && !inAbout && !inTitle && share === 0) return 0;
      score += (inHeading ? 10 : 0) + (inAbout ? 6 : 0) + (inTitle ? 4 : 0) + share;
    }
    return score;
  };
  /** Some words around the first place of one. */
  const snippetOf = ({ text }, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word));
    const start = at < 30 ? 0 : text.indexOf(" ", at - 30) + 1;
    const end = text.length < start + 110 ? text.length : text.lastIndexOf(" ", start + 110);
    return `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  };
  const draw = async () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      found.hidden = true;
      return;
    }
    const hits = (await entries())
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 12);
    found.replaceChildren(
      ...hits.map(({ entry }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = entry.path;
        const heading = document.createElement("b");
        heading.textContent =
          entry.heading === entry.title ? entry.title : `${entry.title}: ${entry.heading}`;
        const snippet = document.createElement("span");
        snippet.textContent = snippetOf(entry, words[0]);
        link.append(heading, snippet);
        item.append(link);
        return item;
      }),
    );
    if (hits.length === 0) found.textContent = "Nothing was found.";
    found.hidden = false;
  };
  search.addEventListener("input", draw);
  search.addEventListener("focus", draw);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") found.hidden = true;
    if (event.key === "Enter") found.querySelector("a")?.click();
    if (event.key === "ArrowDown") {
      event.preventDefault();
      found.querySelector("a")?.focus();
    }
  });
  found.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    (document.activeElement.closest("li")?.[step]?.querySelector("a") ?? search).focus();
  });
  addEventListener("click", (event) => {
    if (!event.target.closest(".search")) found.hidden = true;
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    search.focus();
  });
})();
