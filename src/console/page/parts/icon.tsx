const PATHS = {
  overview: "M3 12.5 12 4l9 8.5M6 10v9.5h4.5V14h3v5.5H18V10",
  try: "M5 12.5l4.5 4.5L19 7",
  lists: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  keys: "M14.5 9.5a5 5 0 1 0-4.6 5L12 12.5h2.5V10l.1-.1M20 4l-6.2 6.2M17 7l2.5 2.5",
  webhooks: "M12 8a3 3 0 1 0-2.6 3L6 17M12 8l3.2 5.6a3 3 0 1 1-.4 4.9M6 17a3 3 0 1 1-1.5-4.4M6 17h8",
  plan: "M4 6.5h16v11H4zM4 10.5h16M7.5 14.5h4",
  directory: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
} as const;

export type IconName = keyof typeof PATHS;

/** A sign beside a word that says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
