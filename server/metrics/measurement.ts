// Measuring a server: collects the counts of its parts and serves them on the metrics port.
import type { Eventually } from '../../db/engine/engine.ts';
import type { Store } from '../../db/store.ts';
import { freePort } from '../lifecycle/listener.ts';
import { WebhookStats } from '../webhooks/webhook-stats.ts';
import { LoopDelay } from './loop-delay.ts';
import type { Metric } from './metric-values.ts';
import type { MetricsPort } from './metrics-port.ts';
import { type BackupStats, BatchStats, serviceMetrics } from './service-metrics.ts';

export interface MetricsOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** The version of crm. */
  version: string;
  commit: string;
  /** Returns the state of scheduled backups, if there is a schedule. */
  backups?: () => BackupStats;
}

/** Metrics cannot be served at an address; the cause says why. */
export class MetricsAddressError extends Error {}

/** Returns what a thread that answers requests has counted. */
export type RequestMetricsReader = () => Eventually<Metric[]>;

export class Measurement {
  readonly batches = new BatchStats();
  readonly webhooks = new WebhookStats();
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
    const { MetricsPort } = await import('./metrics-port.ts');
    // With reader threads, no request measures the delay of this thread, which only writes.
    const delay = readers > 0 ? new LoopDelay() : null;
    const { batches, webhooks } = this;
    const { host, port, version, commit, backups } = this.#options;
    const gather = () => {
      const { isDraining } = this;
      const sources = { version, commit, readers, store, batches, webhooks, isDraining, delay };
      const service = serviceMetrics({ ...sources, backups: backups?.() ?? null });
      return Promise.all([service, ...requestMetrics.map(async (read) => read())]);
    };
    try {
      this.#port = new MetricsPort({ host, port: await freePort(host, port) }, gather);
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
