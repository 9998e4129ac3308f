import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Announcer } from "./parts/announcer.tsx";
import { LostServer } from "./parts/lost-server.tsx";
import { Navigation } from "./parts/navigation.tsx";
import { type Console, ConsoleContext } from "./state/console.ts";
import type { Store } from "./state/store.ts";
import type { Theme } from "./state/theme.ts";
import { useStore } from "./state/use-store.ts";
import { DirectoryView } from "./views/directory.tsx";
import { EnterView } from "./views/enter.tsx";
import { InvoiceView } from "./views/invoice.tsx";
import { JobView } from "./views/job.tsx";
import { KeysView } from "./views/keys.tsx";
import { ListingView } from "./views/listing.tsx";
import { ListsView } from "./views/lists.tsx";
import { OverviewView } from "./views/overview.tsx";
import { PlanView } from "./views/plan.tsx";
import { TryView } from "./views/try.tsx";
import { WebhookView } from "./views/webhook.tsx";
import { WebhooksView } from "./views/webhooks.tsx";

type View = {
  readonly title: string;
  readonly draw: ComponentType;
  /** What is drawn where the address names one thing. */
  readonly drawOne?: ComponentType<{ readonly id: string }>;
};

const VIEWS: { readonly [name: string]: View } = {
  overview: { title: "Overview", draw: OverviewView },
  try: { title: "Try", draw: TryView },
  lists: { title: "Lists", draw: ListsView, drawOne: JobView },
  keys: { title: "Keys", draw: KeysView },
  webhooks: { title: "Webhooks", draw: WebhooksView, drawOne: WebhookView },
  plan: { title: "Plan and invoices", draw: PlanView, drawOne: InvoiceView },
  directory: { title: "Directory", draw: DirectoryView, drawOne: ListingView },
};

/** The console: the entrance without a key, the views with one. */
export function App({ opened, theme }: { readonly opened: Console; readonly theme: Store<Theme> }) {
  const key = useStore(opened.session.key);
  return (
    <ConsoleContext.Provider value={opened}>
      {key === null ? <EnterView /> : <Frame opened={opened} theme={theme} />}
      <Announcer />
    </ConsoleContext.Provider>
  );
}

function Frame({ opened, theme }: { readonly opened: Console; readonly theme: Store<Theme> }) {
  const { view, id } = useStore(opened.route);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { title, draw: Draw, drawOne: DrawOne } = VIEWS[view] ?? (VIEWS.overview as View);
  useEffect(() => {
    setMenuOpen(false);
    document.title = `${title} · Assay console`;
    window.scrollTo(0, 0);
    opened.announcement.set(title);
  }, [view, id]);
  return (
    <div class={isMenuOpen ? "frame open" : "frame"}>
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to a place of this page, whose address has the view in its fragment */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        To the content
      </a>
      <Navigation view={view} theme={theme} isOpen={isMenuOpen} onToggle={() => setMenuOpen(!isMenuOpen)} />
      <main id="main" tabIndex={-1}>
        <LostServer />
        {id !== null && DrawOne !== undefined ? <DrawOne key={id} id={id} /> : <Draw />}
      </main>
    </div>
  );
}
