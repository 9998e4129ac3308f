/** A share of a whole as a ring; the words in its middle say the same. */
export function Ring({
  share,
  title,
  value,
  below,
}: {
  /** 0 to 1. */
  readonly share: number;
  readonly title: string;
  readonly value: string;
  readonly below: string;
}) {
  const around = 2 * Math.PI * 42;
  const filled = around * Math.min(1, Math.max(0, share));
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "accent";
  return (
    <div class="ring">
      <svg viewBox="0 0 100 100" role="img" aria-label={title}>
        <circle class="ring-ground" cx="50" cy="50" r="42" />
        <circle
          class={`ring-share ${tone}`}
          cx="50"
          cy="50"
          r="42"
          stroke-dasharray={`${filled} ${around - filled}`}
          transform="rotate(-90 50 50)"
        />
      </svg>
      <div class="ring-words" aria-hidden="true">
        <b>{value}</b>
        <span>{below}</span>
      </div>
    </div>
  );
}
