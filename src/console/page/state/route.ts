import { decodePercent } from "../../../platform/percent-escapes.ts";
import { createStore, type Store } from "./store.ts";

/** A route of the console: `#/lists/job_1` is the view `lists` with the id `job_1`. */
export type Route = { readonly view: string; readonly id: string | null };

/** Follows the fragment of the URL, which no server sees. */
export function createRoute(window: Window): Store<Route> {
  const read = (): Route => {
    const [view = "", id] = window.location.hash.replace(/^#\/?/, "").split("/");
    return { view: view === "" ? "overview" : view, id: id === undefined ? null : idOf(id) };
  };
  const route = createStore(read());
  window.addEventListener("hashchange", () => route.set(read()));
  return route;
}

/** No id is empty or of dots alone: in the path of a call these lead elsewhere. */
function idOf(text: string): string | null {
  const id = decodePercent(text) ?? text;
  return /^\.{0,2}$/.test(id) ? null : id;
}

export function hrefOf(view: string, id?: string): string {
  return id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}
