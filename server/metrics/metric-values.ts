// The metrics of one moment, in the form in which prom-client accepts the metrics of several processes.
import type { Histogram } from '../../db/engine/histogram.ts';
import { FAMILIES, type Family, type FamilyName, type LabelsOf } from './families.ts';

interface Sample {
  /** If it differs from the name of the family. */
  metricName?: string;
  labels: Record<string, string>;
  value: number;
}

/** A family with its values, in the format of prom-client's `getMetricsAsJSON`. */
export interface Metric {
  name: string;
  help: string;
  type: Family['type'];
  aggregator: Family['across'];
  values: Sample[];
}

export class MetricValues {
  readonly #metrics = new Map<FamilyName, Metric>();

  /** Adds a value, unless it is null. */
  put<N extends FamilyName>(name: N, value: number | null, labels: LabelsOf<N>): void {
    if (value !== null) this.#valuesOf(name).push({ labels, value });
  }

  /** Adds a histogram: for each bucket, how many values are at most its bound. */
  putHistogram<N extends FamilyName>(name: N, { bounds, counts, sum }: Histogram, labels: LabelsOf<N>): void {
    const values = this.#valuesOf(name);
    let below = 0;
    for (const [index, count] of counts.entries()) {
      below += count;
      const le = String(bounds[index] ?? '+Inf');
      values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: below });
    }
    values.push({ metricName: `${name}_sum`, labels, value: sum });
    values.push({ metricName: `${name}_count`, labels, value: below });
  }

  get all(): Metric[] {
    return [...this.#metrics.values()];
  }

  #valuesOf(name: FamilyName): Sample[] {
    const { help, type, across }: Family = FAMILIES[name];
    const none = { name, help, type, aggregator: across, values: [] };
    return this.#metrics.getOrInsert(name, none).values;
  }
}
