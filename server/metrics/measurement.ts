// Measuring a server: collects the counts of its parts and serves them on the metrics port.
import type { Eventually } from '../../db/engine/engine.ts';
import type { Store } from '../../db/store.ts';
import { freePort } from '../lifecycle/listener.ts';
import type { Metric } from './metric-values.ts';
import type { MetricsOptions } from './metrics.ts';
import type { MetricsPort } from './metrics-port.ts';
import { BatchStats } from './service-metrics.ts';

/** Metrics cannot be served at an address; the cause says why. */
export class MetricsAddressError extends Error {}

/** Returns what a thread that answers requests has counted. */
export type RequestMetricsReader = () => Eventually<Metric[]>;

export class Measurement {
  readonly batches = new BatchStats();
  /** Set while clients are sent elsewhere. */
  isDraining = false;
  readonly #options: MetricsOptions;
  #port: MetricsPort | undefined;

  constructor(options: MetricsOptions) {
    this.#options = options;
  }

  /**
   * Starts to serve the metrics.
   * @throws MetricsAddressError if the address cannot be taken
   */
  async open(store: Store, readers: number, requestMetrics: readonly RequestMetricsReader[]): Promise<void> {
    // Loads the metrics library, which nothing else needs.
    const { openMetrics } = await import('./metrics.ts');
    const { host, port } = this.#options;
    try {
      this.#port = openMetrics(
        { ...this.#options, port: await freePort(host, port) },
        {
          store,
          readers,
          batches: this.batches,
          requestMetrics: () => Promise.all(requestMetrics.map(async (count) => count())),
          isDraining: () => this.isDraining,
        },
      );
    } catch (error) {
      throw new MetricsAddressError(`metrics cannot be served at ${host}:${port}`, { cause: error });
    }
  }

  /** URL of the metrics; null before `open`. */
  get url(): string | null {
    return this.#port?.url ?? null;
  }

  async stop(): Promise<void> {
    await this.#port?.stop();
  }
}
