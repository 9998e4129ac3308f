import type { Store } from "../state/store.ts";
import { isOvertaken } from "./overtaken.ts";
import { mayPass, Refusal, refusalOf, Unreachable, unbroken } from "./refusal.ts";
import { createSubmissionKeys } from "./submission-keys.ts";

/**
 * Calls to the server with the visitor's key. Every call throws Refusal or Unreachable where it does not succeed. A POST
 * has an Idempotency-Key, the same one until its reply comes: pressed again after a lost reply, it is not done twice.
 */
export type Api = {
  /** Headers with an authorization of their own are sent in the place of the visitor's key. Resolves behind a sign-out. */
  readonly open: (path: string, init?: ApiCall) => Promise<Response>;
  /** This, `send` and `remove` reject where the visitor has signed out meanwhile. */
  readonly read: <Body>(path: string, signal?: AbortSignal) => Promise<Body>;
  readonly send: <Body>(method: "POST" | "PATCH" | "PUT", path: string, body?: unknown) => Promise<Body>;
  readonly remove: (path: string) => Promise<void>;
  /** The authorization header; empty without a key. */
  readonly authorization: () => Authorization;
  /** Runs a call with the key, and once more where the key is refused that the visitor has exchanged meanwhile. */
  readonly withKey: <Value>(call: (authorization: Authorization) => Promise<Value>) => Promise<Value>;
};

export type Authorization = { readonly [name: string]: string };
export type ApiCall = Omit<RequestInit, "headers"> & {
  readonly headers?: { readonly [name: string]: string };
};

/** Whether the server answers. */
export type Connection = "up" | "lost";

export type ApiDependencies = {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly key: Store<string | null>;
  /** The server no longer takes the key that is held. */
  readonly onKeyRefused: () => void;
  readonly connection: Store<Connection>;
};

export function createApi({ fetch, key, onKeyRefused, connection }: ApiDependencies): Api {
  const submissions = createSubmissionKeys();
  let visits = 0;
  key.subscribe(() => {
    if (key.get() !== null) return;
    visits += 1;
    submissions.clear();
  });

  const withKey: Api["withKey"] = async (call) => {
    const visit = visits;
    for (let isAgain = false; ; isAgain = true) {
      const held = key.get();
      try {
        return await call(authorizationOf(held));
      } catch (error) {
        if (held === null || !(error instanceof Refusal) || error.status !== 401) throw error;
        const isHeld = key.get() === held;
        // The key may have ended by an exchange whose reply was lost: sent again, it still brings the new key.
        if (isHeld && !submissions.has(isExchange)) onKeyRefused();
        if (isHeld || isAgain || visit !== visits) throw error;
      }
    }
  };

  const openWith = async (path: string, init: ApiCall, authorization: Authorization): Promise<Response> => {
    const isKeyed = init.method === "POST" && authorization.Authorization !== undefined;
    const submission = isKeyed ? submissionOf(path, init) : null;
    let reply: Response;
    try {
      reply = await fetch(path, {
        cache: "no-store",
        credentials: "omit",
        ...init,
        headers: {
          Accept: "application/json",
          ...authorization,
          ...(submission === null ? {} : { "Idempotency-Key": submissions.keyOf(submission) }),
          ...init.headers,
        },
      });
      if (submission !== null) reply = await whole(reply);
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      connection.set("lost");
      throw new Unreachable("The server does not answer.", { cause });
    }
    connection.set("up");
    const isTaken = reply.ok || (path === "/health" && reply.status === 503);
    const refusal = isTaken ? null : await refusalOf(reply);
    if (submission !== null && !mayPass(refusal)) submissions.settle(submission);
    if (refusal === null) submissions.forget((held) => isOvertaken(pathOf(held), init.method, path));
    if (refusal !== null) throw refusal;
    return reply;
  };

  const open: Api["open"] = (path, init = {}) =>
    init.headers?.Authorization === undefined
      ? withKey((authorization) => openWith(path, init, authorization))
      : openWith(path, init, {});

  /** Rejects once the visitor who made the call has signed out: nothing of it is for the next one. */
  const ofVisit = async <Value>(call: () => Promise<Value>): Promise<Value> => {
    const visit = visits;
    const value = await call();
    if (visit !== visits) throw new Refusal("The visitor has signed out.", SIGNED_OUT);
    return value;
  };

  return {
    open,
    withKey,
    authorization: () => authorizationOf(key.get()),
    read: <Body>(path: string, signal?: AbortSignal) =>
      ofVisit(async () => {
        const reply = await open(path, signal === undefined ? {} : { signal });
        return (await unbroken(reply.json())) as Body;
      }),
    async send<Body>(method: "POST" | "PATCH" | "PUT", path: string, body?: unknown) {
      const json = { "Content-Type": "application/json" };
      const call = { method, ...(body === undefined ? {} : { headers: json, body: JSON.stringify(body) }) };
      const reply = await ofVisit(() => open(path, call));
      return (reply.status === 204 ? undefined : await unbroken(reply.json())) as Body;
    },
    async remove(path) {
      await ofVisit(() => open(path, { method: "DELETE" }));
    },
  };
}

const SIGNED_OUT = { status: 0, code: "signed_out", requestId: null };

function authorizationOf(key: string | null): Authorization {
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

function submissionOf(path: string, { headers, body }: ApiCall): string {
  return [path, headers?.["Content-Type"] ?? "", typeof body === "string" ? body : ""].join("\n");
}

function pathOf(submission: string): string {
  return submission.slice(0, submission.indexOf("\n"));
}

function isExchange(submission: string): boolean {
  return /^\/v1\/account\/keys\/[^/\n]+\/rotate\n/.test(submission);
}

/** Reads a reply to its end: one that breaks off is one that did not come. */
async function whole(reply: Response): Promise<Response> {
  const { status, headers } = reply;
  return new Response(status === 204 ? null : await reply.arrayBuffer(), { status, headers });
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
