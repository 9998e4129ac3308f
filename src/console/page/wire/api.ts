import type { Store } from "../state/store.ts";
import { Refusal, refusalOf, Unreachable } from "./refusal.ts";

/** Calls to the server with the visitor's key. Every call throws Refusal or Unreachable where it does not succeed. */
export type Api = {
  readonly open: (path: string, init?: RequestInit) => Promise<Response>;
  readonly read: <Body>(path: string, signal?: AbortSignal) => Promise<Body>;
  readonly send: <Body>(method: "POST" | "PATCH" | "PUT", path: string, body?: unknown) => Promise<Body>;
  readonly remove: (path: string) => Promise<void>;
  /** The authorization header; empty without a key. */
  readonly authorization: () => { readonly [name: string]: string };
};

/** Whether the server answers. */
export type Connection = "up" | "lost";

export type ApiDependencies = {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly key: () => string | null;
  /** The server no longer takes the key. */
  readonly onKeyRefused: () => void;
  readonly connection: Store<Connection>;
};

export function createApi({ fetch, key, onKeyRefused, connection }: ApiDependencies): Api {
  const authorization = (): { [name: string]: string } => {
    const held = key();
    return held === null ? {} : { Authorization: `Bearer ${held}` };
  };
  const open: Api["open"] = async (path, init = {}) => {
    const withKey = key() !== null;
    let reply: Response;
    try {
      reply = await fetch(path, {
        cache: "no-store",
        credentials: "omit",
        ...init,
        headers: { Accept: "application/json", ...authorization(), ...init.headers },
      });
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      connection.set("lost");
      throw new Unreachable("The server does not answer.", { cause });
    }
    connection.set("up");
    if (reply.ok || (path === "/health" && reply.status === 503)) return reply;
    const refusal = await refusalOf(reply);
    if (withKey && refusal.status === 401) onKeyRefused();
    throw refusal;
  };
  return {
    open,
    authorization,
    async read<Body>(path: string, signal?: AbortSignal) {
      const reply = await open(path, signal === undefined ? {} : { signal });
      return (await reply.json()) as Body;
    },
    async send<Body>(method: "POST" | "PATCH" | "PUT", path: string, body?: unknown) {
      const json = { "Content-Type": "application/json" };
      const reply = await open(path, {
        method,
        ...(body === undefined ? {} : { headers: json, body: JSON.stringify(body) }),
      });
      return (reply.status === 204 ? undefined : await reply.json()) as Body;
    },
    async remove(path) {
      await open(path, { method: "DELETE" });
    },
  };
}

/** The code of a refusal; null for other errors. */
export function codeOf(error: unknown): string | null {
  return error instanceof Refusal ? error.code : null;
}

/** Returns the message of an error for the visitor. */
export function messageOf(error: unknown): string {
  if (error instanceof Refusal || error instanceof Unreachable) return error.message;
  return "The page met a fault of its own. Load it again.";
}
