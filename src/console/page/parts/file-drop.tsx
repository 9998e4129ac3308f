import { useId, useState } from "preact/hooks";

/** A field that takes one file, chosen or dropped. */
export function FileDrop({
  label,
  hint,
  onFile,
}: {
  readonly label: string;
  readonly hint: string;
  readonly onFile: (file: File) => void;
}) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) onFile(file);
  };
  return (
    <section
      class={isOver ? "drop over" : "drop"}
      aria-label={label}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept=".csv,.tsv,.txt,.ndjson,.jsonl,text/csv,text/plain"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
      <p class="hint">{hint}</p>
    </section>
  );
}
