import { SQL } from "bun";
import { abandon, createPrimaryFinder, KEEPALIVES } from "./servers.ts";

/** What receives the messages of a channel. */
export type ChannelListener = {
  readonly onMessage: (payload: string) => void;
  /** Called once it listens, and again after each time that it did not: what was said meanwhile is to be read. */
  readonly resumed: () => void;
};

export type Listener = {
  /** Listens until the function that it returns is called. */
  readonly listen: (channel: string, channelListener: ChannelListener) => () => void;
  readonly close: () => void;
};

/** A listener that does not receive its own echo by the next one is connected anew. */
const ECHO_EVERY_MS = 3_000;
const AGAIN_AFTER_MS = 500;
/** What the connections are called, before the name of their process, on which it listens and by which it speaks to itself. */
export const LISTENER_NAME = "assay listener";
const ECHO_CHANNEL = "assay_echo";

/**
 * Listens to what nodes announce, on a connection of its own to the server that takes writes: announcements come
 * through no pooler. It is a shortcut: listeners read by themselves, too, only later. A connection that is lost in
 * silence is found by an echo that does not come.
 */
export function createListener(options: {
  readonly urls: readonly string[];
  readonly processId: string;
}): Listener {
  const finder = createPrimaryFinder({ urls: options.urls, isPooled: false });
  const listeners = new Map<string, Set<ChannelListener>>();
  /** Channels that the present connection listens to. */
  let subscribed = new Set<string>();
  /** Those of them that the server has confirmed. */
  let confirmed = new Set<string>();
  let pool: SQL | null = null;
  let isClosed = false;
  let echo: Timer | undefined;
  let again: Timer | undefined;
  let isEchoed = false;

  function drop(lost: SQL): void {
    if (pool !== lost) return;
    clearInterval(echo);
    pool = null;
    abandon(lost);
    clearTimeout(again);
    if (!isClosed) again = setTimeout(() => void connect(), AGAIN_AFTER_MS);
  }

  async function connect(): Promise<void> {
    let opened: SQL | null = null;
    try {
      const url = await finder.find();
      if (isClosed || pool !== null) return;
      const used: SQL = new SQL({
        url,
        max: 1,
        connectionTimeout: 1,
        connection: { application_name: `${LISTENER_NAME} ${options.processId}`, ...KEEPALIVES },
        // The driver would try again by itself, and print each failure.
        onclose: () => drop(used),
      });
      opened = used;
      pool = used;
      subscribed = new Set();
      confirmed = new Set();
      watch(used);
      // The first statement fails where the server is away, without the words that the driver prints of a channel.
      await used.unsafe("SELECT 1");
      await used.listen(ECHO_CHANNEL, (payload) => {
        if (payload === options.processId) isEchoed = true;
      });
      for (const channel of listeners.keys()) await subscribe(used, channel);
    } catch {
      if (opened !== null) drop(opened);
      else if (!isClosed) again = setTimeout(() => void connect(), AGAIN_AFTER_MS);
    }
  }

  async function subscribe(used: SQL, channel: string): Promise<void> {
    if (subscribed.has(channel)) return;
    subscribed.add(channel);
    await used.listen(
      channel,
      (payload) => {
        for (const { onMessage } of listeners.get(channel) ?? []) onMessage(payload);
      },
      () => {
        if (pool === used) confirmed.add(channel);
        for (const { resumed } of listeners.get(channel) ?? []) resumed();
      },
    );
  }

  function watch(used: SQL): void {
    isEchoed = true;
    clearInterval(echo);
    echo = setInterval(() => {
      if (!isEchoed) return drop(used);
      isEchoed = false;
      used.notify(ECHO_CHANNEL, options.processId).catch(() => drop(used));
    }, ECHO_EVERY_MS);
  }

  return {
    listen: (channel, channelListener) => {
      const known = listeners.get(channel) ?? new Set();
      const isNew = known.size === 0;
      known.add(channelListener);
      listeners.set(channel, known);
      if (isNew && pool !== null) {
        const used = pool;
        subscribe(used, channel).catch(() => drop(used));
      }
      // The server confirms a channel once: who joins later may have missed what was said since its last look.
      if (pool !== null && confirmed.has(channel)) {
        queueMicrotask(() => {
          if (known.has(channelListener)) channelListener.resumed();
        });
      }
      if (pool === null && again === undefined) void connect();
      return () => {
        known.delete(channelListener);
      };
    },
    close: () => {
      isClosed = true;
      clearInterval(echo);
      clearTimeout(again);
      if (pool !== null) abandon(pool);
    },
  };
}
