/** A value between two ends as a bar. */
export function MeterBar({
  label,
  value,
  most,
  tone = "accent",
}: {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly tone?: string;
}) {
  const share = most <= 0 ? 0 : Math.min(1, Math.max(0, value / most));
  return (
    <svg
      class={`meter-bar ${tone}`}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect class="ground" width="100" height="4" />
      <rect class="value" width={share * 100} height="4" />
    </svg>
  );
}
