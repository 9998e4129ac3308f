import { buildConsole, type ConsoleFiles } from "../../console/bundle.ts";
import { consoleHtml } from "../../console/frame.ts";
import { createAssets, tagOf } from "../assets.ts";
import type { Route, Routing } from "../routing.ts";

/** Nothing but the server's own files and routes: no inline script or style, no frame around the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SCRIPT = "/console/page.js";
const STYLE = "/console/page.css";

/** The console: one page and its files, bundled by the first call that asks for one of them. */
export function consoleRoutes({ routing }: { readonly routing: Routing }): readonly Route[] {
  const createAsset = createAssets(POLICY);
  let built: Promise<ConsoleFiles> | undefined;
  const fileOf = (name: keyof ConsoleFiles) => async (): Promise<Uint8Array> => {
    built ??= buildConsole();
    const files = await built.catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    return Buffer.from(files[name]);
  };
  const taggedPath = async (path: string, name: keyof ConsoleFiles) =>
    `${path}?v=${tagOf(await fileOf(name)())}`;
  const page = async (): Promise<Uint8Array> => {
    const script = await taggedPath(SCRIPT, "script");
    const style = await taggedPath(STYLE, "style");
    return Buffer.from(consoleHtml({ script, style }));
  };
  const script = "text/javascript; charset=utf-8";
  return [
    routing.file("/console", createAsset("text/html; charset=utf-8", page)),
    routing.file(SCRIPT, createAsset(script, fileOf("script"))),
    routing.file("/console/list-reader.js", createAsset(script, fileOf("worker"))),
    routing.file(STYLE, createAsset("text/css; charset=utf-8", fileOf("style"))),
  ];
}
