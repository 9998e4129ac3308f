const PATHS = {
  overview: "M3 12.5 12 4l9 8.5M6 10v9.5h4.5V14h3v5.5H18V10",
  try: "M9.5 3.5h5M10.5 3.5v6L5.2 18.4A1.1 1.1 0 0 0 6.1 20h11.8a1.1 1.1 0 0 0 .9-1.6L13.5 9.5v-6M7.8 15h8.4",
  lists: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  keys: "M8 11.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10.9 12.6 19.5 4M16 7.5l2.7 2.7",
  webhooks: "M12 8a3 3 0 1 0-2.6 3L6 17M12 8l3.2 5.6a3 3 0 1 1-.4 4.9M6 17a3 3 0 1 1-1.5-4.4M6 17h8",
  plan: "M4 6.5h16v11H4zM4 10.5h16M7.5 14.5h4",
  directory: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon beside a word that says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
