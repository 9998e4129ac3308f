import { createServer } from "node:net";

/** A port that no other process can take. */
export type HeldPort = {
  readonly port: number;
  /** To be called at once before what is to listen there is started. */
  readonly release: () => Promise<void>;
};

/** Holds a port, any that is free for 0; rejects where that is not possible. */
export function holdPort(port: number, host = "127.0.0.1"): Promise<HeldPort> {
  return new Promise((resolve, reject) => {
    const holder = createServer((socket) => socket.destroy());
    holder.once("error", reject);
    holder.listen(port, host, () => {
      const address = holder.address();
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        release: () => new Promise((released) => holder.close(() => released())),
      });
    });
  });
}
