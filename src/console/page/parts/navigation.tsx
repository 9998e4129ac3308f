import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import type { Store } from "../state/store.ts";
import { THEMES, type Theme } from "../state/theme.ts";
import { useStore } from "../state/use-store.ts";
import { wordsOf } from "../text/format.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Mark } from "./mark.tsx";

const PLACES: readonly (readonly [IconName, string])[] = [
  ["overview", "Overview"],
  ["try", "Try"],
  ["lists", "Lists"],
  ["keys", "Keys"],
  ["webhooks", "Webhooks"],
  ["plan", "Plan and invoices"],
  ["directory", "Directory"],
];

/** The views, the colours, the way out. On a narrow screen they lie behind one button. */
export function Navigation({
  view,
  theme,
  isOpen,
  onToggle,
}: {
  readonly view: string;
  readonly theme: Store<Theme>;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const { session } = useConsole();
  const key = useStore(session.key) ?? "";
  return (
    <header class="side">
      <div class="brand-row">
        <a class="brand" href={hrefOf("overview")}>
          <Mark size={26} />
          Assay <span>console</span>
        </a>
        <button
          type="button"
          class="menu"
          aria-expanded={isOpen}
          aria-controls="places"
          aria-label="Menu"
          onClick={onToggle}
        >
          <i />
        </button>
      </div>
      <div class="places" id="places">
        <nav aria-label="Views">
          <ul>
            {PLACES.map(([name, text]) => (
              <li key={name}>
                <a href={hrefOf(name)} aria-current={view === name ? "page" : undefined}>
                  <Icon name={name} />
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <a href="/docs">Documentation</a>
          <ThemeChoice theme={theme} />
          <p class="who">
            <span>Key</span> <code>{`${key.slice(0, 4)}…${key.slice(-4)}`}</code>
          </p>
          <Button look="small" onPress={session.leave}>
            Sign out
          </Button>
        </div>
      </div>
    </header>
  );
}

function ThemeChoice({ theme }: { readonly theme: Store<Theme> }) {
  const chosen = useStore(theme);
  return (
    <fieldset class="themes">
      <legend class="unseen">Colours</legend>
      {THEMES.map((name) => (
        <label key={name}>
          <input type="radio" name="theme" checked={name === chosen} onChange={() => theme.set(name)} />
          <span>{wordsOf(name)}</span>
        </label>
      ))}
    </fieldset>
  );
}
