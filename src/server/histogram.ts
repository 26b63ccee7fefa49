import type { BucketSample } from "../admin/views/figures.ts";

/** Counts observations per bucket; a bucket includes its upper bound. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    if (bucket < bounds.length) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  sample(): BucketSample {
    const counts = [...this.#counts];
    return { bounds: this.#bounds, counts, count: this.#count, sum: this.#sum };
  }
}

/** Renders cumulative buckets: each counts all observations up to its bound. */
export function renderBuckets(name: string, labels: string, sample: BucketSample) {
  const prefix = labels === "" ? "" : `${labels},`;
  const suffix = labels === "" ? "" : `{${labels}}`;
  let cumulative = 0;
  const buckets = sample.bounds.map((bound, index) => {
    cumulative += sample.counts[index] ?? 0;
    return `${name}_bucket{${prefix}le="${bound}"} ${cumulative}`;
  });
  return [
    ...buckets,
    `${name}_bucket{${prefix}le="+Inf"} ${sample.count}`,
    `${name}_sum${suffix} ${sample.sum}`,
    `${name}_count${suffix} ${sample.count}`,
  ];
}
