import { render } from "preact";
import { App } from "./app.tsx";
import type { Console } from "./state/console.ts";
import { createRoute, hrefOf } from "./state/route.ts";
import { createSession } from "./state/session.ts";
import { createStore } from "./state/store.ts";
import { createTheme } from "./state/theme.ts";
import { sendBytes } from "./upload/send-bytes.ts";
import { createUploads } from "./upload/uploads.ts";
import { type Connection, createApi } from "./wire/api.ts";

/** Opens the console in the page: what it needs of the browser enters here. */
function main(): void {
  const place = document.getElementById("console");
  if (place === null) return;
  const session = createSession(sessionStorage);
  const connection = createStore<Connection>("up");
  const announcement = createStore("");
  const api = createApi({
    fetch: (path, init) => fetch(path, init),
    key: session.key,
    onKeyRefused: session.leaveRefused,
    connection,
  });
  const uploads = createUploads({ api, storage: sessionStorage, send: sendBytes });
  session.key.subscribe(() => {
    if (session.key.get() !== null) return;
    uploads.forget();
    announcement.set("");
  });
  // A page that the browser kept whole and shows again still holds the key that it was left with.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted && !session.isKept()) location.reload();
  });
  const opened: Console = {
    api,
    session,
    route: createRoute(window),
    connection,
    announcement,
    uploads,
    now: () => Date.now(),
    goTo(view, id) {
      location.hash = hrefOf(view, id);
    },
  };
  render(<App opened={opened} theme={createTheme(document.documentElement, localStorage)} />, place);
}

main();
