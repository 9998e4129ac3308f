/** Logistic regression and isotonic calibration for the gibberish score: small, dense and deterministic. */
import { measureNames } from "../../verification/email/gibberish-model.ts";
import { calibrationFrom, calibrationStep, calibrationTo } from "../../verification/email/gibberish-table.ts";

/** Share of gibberish the probabilities assume: none is favoured. A caller who knows his own share can correct by it. */
const gibberishPrior = 0.5;

export type Example = {
  readonly measures: readonly number[];
  /** Of the local, in letters and digits. */
  readonly length: number;
  readonly isGibberish: boolean;
};

export type CalibrationPoint = {
  readonly logit: number;
  readonly isGibberish: boolean;
  readonly weight: number;
};

function add(table: Float64Array, index: number, amount: number): void {
  table[index] = (table[index] ?? 0) + amount;
}

export function weightOf(example: Example): number {
  return example.isGibberish ? gibberishPrior : 1 - gibberishPrior;
}

/** What a fit starts from and is held to: the harder, the more examples it takes to leave it. */
export type Ridge = { readonly weights: Float64Array; readonly hold: number };

const NO_WEIGHTS: Ridge = { weights: new Float64Array(measureNames.length), hold: 0.5 };

/**
 * Logistic regression by Newton steps with a ridge. Both kinds of example weigh by the prior, however many
 * of each there are, so that weights which were fitted on parts of the lengths give logits that can be compared.
 */
export function fittedWeights(examples: readonly Example[], ridge: Ridge = NO_WEIGHTS): Float64Array {
  const n = measureNames.length;
  const gibberishShare = examples.filter((example) => example.isGibberish).length / examples.length;
  const weights = Float64Array.from(ridge.weights);
  for (let step = 0; step < 14; step++) {
    const gradient = new Float64Array(n);
    const hessian = new Float64Array(n * n);
    for (const example of examples) {
      const { measures } = example;
      let logit = 0;
      for (let j = 0; j < n; j++) logit += (weights[j] ?? 0) * (measures[j] ?? 0);
      const chance = 1 / (1 + Math.exp(-logit));
      const share = example.isGibberish ? gibberishShare : 1 - gibberishShare;
      const weight = (0.5 * weightOf(example)) / share;
      const error = weight * ((example.isGibberish ? 1 : 0) - chance);
      const curvature = weight * Math.max(1e-6, chance * (1 - chance));
      for (let j = 0; j < n; j++) {
        const measure = measures[j] ?? 0;
        if (measure === 0) continue;
        add(gradient, j, error * measure);
        for (let k = 0; k <= j; k++) add(hessian, j * n + k, curvature * measure * (measures[k] ?? 0));
      }
    }
    for (let j = 0; j < n; j++) {
      add(gradient, j, ridge.hold * ((ridge.weights[j] ?? 0) - (weights[j] ?? 0)));
      add(hessian, j * n + j, ridge.hold);
      for (let k = j + 1; k < n; k++) hessian[j * n + k] = hessian[k * n + j] ?? 0;
    }
    solved(hessian, gradient).forEach((change, j) => {
      add(weights, j, change);
    });
  }
  return weights.map((weight) => Math.round(weight * 10_000) / 10_000);
}

/** Gaussian elimination with pivoting on a small dense system. */
function solved(matrix: Float64Array, right: Float64Array): Float64Array {
  const n = right.length;
  const rows = Array.from({ length: n }, (_, i) => [...matrix.subarray(i * n, i * n + n), right[i] ?? 0]);
  for (let column = 0; column < n; column++) {
    const pivot =
      rows.slice(column).sort((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0))[0] ?? [];
    const at = rows.indexOf(pivot);
    const swapped = rows[column] ?? [];
    rows[column] = pivot;
    rows[at] = swapped;
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[column] ?? 0) / (pivot[column] ?? 1);
      for (let k = column; k <= n; k++) row[k] = (row[k] ?? 0) - factor * (pivot[k] ?? 0);
    }
  }
  return Float64Array.from(rows, (row, i) => (row[n] ?? 0) / (row[i] ?? 1));
}

/** Pools adjacent violators, then reads the curve off at even steps of the logit. */
export function isotonic(points: CalibrationPoint[]): Float64Array {
  points.sort((a, b) => a.logit - b.logit);
  const blocks: { logit: number; hits: number; weight: number }[] = [];
  for (const point of points) {
    let block = {
      logit: point.logit * point.weight,
      hits: point.isGibberish ? point.weight : 0,
      weight: point.weight,
    };
    for (let top = blocks.at(-1); top !== undefined; top = blocks.at(-1)) {
      const isOrdered = top.hits / top.weight < block.hits / block.weight;
      if (isOrdered && top.weight > 15) break;
      blocks.pop();
      block = {
        logit: block.logit + top.logit,
        hits: block.hits + top.hits,
        weight: block.weight + top.weight,
      };
    }
    blocks.push(block);
  }
  const curve = blocks.map((block) => ({
    logit: block.logit / block.weight,
    chance: (block.hits + 0.01) / (block.weight + 0.11),
  }));
  const count = (calibrationTo - calibrationFrom) / calibrationStep + 1;
  return Float64Array.from({ length: count }, (_, i) => {
    const chance = interpolated(curve, calibrationFrom + i * calibrationStep);
    return Math.round(chance * 10_000) / 10_000;
  });
}

function interpolated(curve: readonly { logit: number; chance: number }[], logit: number): number {
  let below = { logit: calibrationFrom, chance: 0 };
  for (const point of curve) {
    if (point.logit >= logit) {
      const span = point.logit - below.logit;
      return span <= 0
        ? point.chance
        : below.chance + ((point.chance - below.chance) * (logit - below.logit)) / span;
    }
    below = point;
  }
  const span = calibrationTo - below.logit;
  return span <= 0 ? 1 : below.chance + ((1 - below.chance) * (logit - below.logit)) / span;
}
