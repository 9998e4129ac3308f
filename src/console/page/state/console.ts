import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Uploads } from "../upload/uploads.ts";
import type { Api, Connection } from "../wire/api.ts";
import type { Route } from "./route.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";

/** The dependencies of all views. */
export type Console = {
  readonly api: Api;
  readonly session: Session;
  readonly route: Store<Route>;
  readonly connection: Store<Connection>;
  /** The next announcement of screen readers. */
  readonly announcement: Store<string>;
  readonly uploads: Uploads;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly goTo: (view: string, id?: string) => void;
};

export const ConsoleContext = createContext<Console | null>(null);

export function useConsole(): Console {
  const found = useContext(ConsoleContext);
  if (found === null) throw new Error("a view is drawn outside of the console");
  return found;
}
