// What a server does to be measured: whom it lets count, and the port on which it then tells of it.
import type { Eventually } from '../../db/engine.ts';
import type { Store } from '../../db/store.ts';
import type { MetricsOptions } from './metrics.ts';
import type { MetricsPort } from './metrics-port.ts';
import { BatchFigures } from './service-metrics.ts';
import type { Metric } from './sheet.ts';

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
   * @throws the system's error if the address cannot be taken
   */
  async open(store: Store, readers: number, fronts: readonly FrontCount[]): Promise<void> {
    // With its library, which nobody else needs.
    const { openMetrics } = await import('./metrics.ts');
    this.#port = openMetrics(this.#options, {
      store,
      readers,
      batches: this.batches,
      fronts: () => Promise.all(fronts.map(async (count) => count())),
      isDraining: () => this.isDraining,
    });
  }

  /** Where they are told; null before that. */
  get url(): string | null {
    return this.#port?.url ?? null;
  }

  async stop(): Promise<void> {
    await this.#port?.stop();
  }
}
