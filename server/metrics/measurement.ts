// What a server does to be measured: whom it lets count, and the port on which it then tells of it.
import type { Eventually } from '../../db/engine/engine.ts';
import type { Store } from '../../db/store.ts';
import { freePort } from '../lifecycle/listener.ts';
import type { Metric } from './metric-values.ts';
import type { MetricsOptions } from './metrics.ts';
import type { MetricsPort } from './metrics-port.ts';
import { BatchFigures } from './service-metrics.ts';

/** Says that metrics cannot be told at an address; its cause says why. */
export class MetricsAddressError extends Error {}

/** Gives what a thread that answers requests has counted. */
export type FrontCount = () => Eventually<Metric[]>;

export class Measurement {
  readonly batches = new BatchFigures();
  /** Set when clients are being sent elsewhere. */
  isDraining = false;
  readonly #options: MetricsOptions;
  #port: MetricsPort | undefined;

  constructor(options: MetricsOptions) {
    this.#options = options;
  }

  /**
   * Listens for who asks for metrics.
   * @throws MetricsAddressError if the address cannot be taken
   */
  async open(store: Store, readers: number, fronts: readonly FrontCount[]): Promise<void> {
    // With its library, which nobody else needs.
    const { openMetrics } = await import('./metrics.ts');
    const { host, port } = this.#options;
    try {
      this.#port = openMetrics(
        { ...this.#options, port: await freePort(host, port) },
        {
          store,
          readers,
          batches: this.batches,
          fronts: () => Promise.all(fronts.map(async (count) => count())),
          isDraining: () => this.isDraining,
        },
      );
    } catch (error) {
      throw new MetricsAddressError(`metrics cannot be told at ${host}:${port}`, { cause: error });
    }
  }

  /** Where they are told; null before that. */
  get url(): string | null {
    return this.#port?.url ?? null;
  }

  async stop(): Promise<void> {
    await this.#port?.stop();
  }
}
