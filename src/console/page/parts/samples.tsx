import { useState } from "preact/hooks";
import type { Sample } from "../text/samples.ts";
import { CopyButton } from "./copy-button.tsx";
import { Tabs } from "./tabs.tsx";

/** The same call in several languages, to copy. */
export function Samples({ samples }: { readonly samples: readonly Sample[] }) {
  const [language, setLanguage] = useState(samples[0]?.language ?? "");
  const shown = samples.find((sample) => sample.language === language) ?? samples[0];
  if (shown === undefined) return null;
  return (
    <Tabs
      label="Language"
      names={samples.map((sample) => [sample.language, sample.language])}
      chosen={shown.language}
      onChoose={setLanguage}
      aside={<CopyButton text={shown.text} name={shown.language} />}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard */}
      <pre tabIndex={0}>
        <code>{shown.text}</code>
      </pre>
    </Tabs>
  );
}
