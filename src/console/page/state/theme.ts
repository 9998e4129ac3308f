import { createStore, type Store } from "./store.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const THEME_NAME = "assay-theme";

/** The colour theme: the system's, unless the visitor has chosen another in this browser: signing out keeps it. */
export function createTheme(root: HTMLElement, storage: Storage): Store<Theme> {
  const kept = THEMES.find((theme) => theme === storage.getItem(THEME_NAME));
  const store = createStore<Theme>(kept ?? "system");
  const apply = () => {
    const theme = store.get();
    if (theme === "system") {
      delete root.dataset.theme;
      storage.removeItem(THEME_NAME);
    } else {
      root.dataset.theme = theme;
      storage.setItem(THEME_NAME, theme);
    }
  };
  apply();
  store.subscribe(apply);
  return store;
}
