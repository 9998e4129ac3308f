import { useState } from "preact/hooks";
import { Mark } from "../parts/mark.tsx";
import { Notice } from "../parts/notice.tsx";
import { Secret } from "../parts/secret.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useConsole } from "../state/console.ts";
import { useStore } from "../state/use-store.ts";
import { EnterForm } from "./enter-form.tsx";
import { SignupForm } from "./signup-form.tsx";

/** The entrance: with a key, or with a new account. */
export function EnterView() {
  const { session } = useConsole();
  const [way, setWay] = useState<"enter" | "signup">("enter");
  const [newKey, setNewKey] = useState<string | null>(null);
  const isRefused = useStore(session.isRefused);
  return (
    <main class="enter">
      <div class="enter-card">
        <p class="enter-brand">
          <Mark size={36} />
          Assay <span>console</span>
        </p>
        <h1>See what your calls do</h1>
        <p class="lead">Check one address or ten million, watch them, and keep an eye on what they cost.</p>
        {isRefused ? <Notice kind="bad">The server no longer takes this key.</Notice> : null}
        {newKey !== null ? (
          <Secret
            title="Your key"
            value={newKey}
            done="I have saved it: continue"
            onDone={() => session.enter(newKey)}
          />
        ) : (
          <Tabs
            label="Way in"
            names={[
              ["enter", "I have a key"],
              ["signup", "Sign up"],
            ]}
            chosen={way}
            onChoose={setWay}
          >
            {way === "enter" ? <EnterForm /> : <SignupForm onKey={setNewKey} />}
          </Tabs>
        )}
        <p class="foot">
          The key stays in this tab and is forgotten with it. <a href="/docs">Documentation</a>
        </p>
      </div>
    </main>
  );
}
