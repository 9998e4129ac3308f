/** What is left of the count after a group, unless as many calls are open. */
const FADING_SHARE = 0.75;

/** Calls that are open at once, at the most: what gathers them into groups expects as many. */
export type BusiestCount = {
  /** Looks at the calls that are open now. Returns the count. */
  readonly rise: () => number;
  /** Called after each group, so that the count falls as it quietens. */
  readonly fade: () => void;
  readonly current: () => number;
};

export function createBusiestCount(openCalls: () => number): BusiestCount {
  let busiest = 0;
  return {
    rise: () => {
      busiest = Math.max(busiest, openCalls());
      return busiest;
    },
    fade: () => {
      busiest = Math.max(openCalls(), Math.floor(busiest * FADING_SHARE));
    },
    current: () => busiest,
  };
}
