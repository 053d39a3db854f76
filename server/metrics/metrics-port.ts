// The port on which metrics are told, and nothing else: whoever reaches it needs no key.
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  openMetricsContentType,
  prometheusContentType,
  Registry,
  type RegistryContentType,
} from 'prom-client';
import type { Metric } from './metric-values.ts';

export interface MetricsAddress {
  host: string;
  /** 0 takes any free port. */
  port: number;
}

/** What of prom-client's own is as true here as on Node; its figures of V8 are none of JavaScriptCore. */
export const PROCESS_METRICS = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
];
const PATH = '/metrics';
const OPEN_METRICS = 'application/openmetrics-text';
// It runs whether its figures are wanted or not.
const LOOP_MONITOR_MS = 1_000;

/** Tells the metrics of a service to whoever asks for them. */
export class MetricsPort {
  readonly #process = processRegistry();
  readonly #gather: () => Promise<Metric[][]>;
  readonly #socket: Bun.Server<undefined>;
  readonly #host: string;

  /**
   * Starts to listen on a port that is free, as `freePort` finds out.
   * @param gather gives the metrics of each thread
   * @throws the system's error if the address cannot be taken
   */
  constructor({ host, port }: MetricsAddress, gather: () => Promise<Metric[][]>) {
    this.#gather = gather;
    this.#host = host.includes(':') ? `[${host}]` : host;
    this.#socket = Bun.serve({
      hostname: host,
      port,
      // So that one which is to take over can see beforehand that nobody else has it.
      reusePort: true,
      fetch: (request) => this.#answer(request),
    });
  }

  get url(): string {
    return `http://${this.#host}:${this.#socket.port}${PATH}`;
  }

  async stop(): Promise<void> {
    await this.#socket.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== PATH) return said(404, `There is ${PATH} here, and nothing else.`);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return said(405, `${PATH} takes GET and HEAD only.`, { Allow: 'GET, HEAD' });
    try {
      return await this.#tell(request.headers.get('Accept') ?? '');
    } catch {
      return said(503, 'The metrics cannot be gathered just now.');
    }
  }

  async #tell(accepted: string): Promise<Response> {
    const isOpen = accepted.includes(OPEN_METRICS);
    const [own, threads] = await Promise.all([this.#process.getMetricsAsJSON(), this.#gather()]);
    // Some of prom-client's own would be left out, as those of several processes cannot become one.
    const ofProcess = own.map((metric) => ({ ...metric, aggregator: 'first' }));
    const all = [...threads, ofProcess].map((metrics) => (isOpen ? metrics.map(withoutTotal) : metrics));
    const registry = AggregatorRegistry.aggregate<RegistryContentType>(all);
    registry.setContentType(isOpen ? openMetricsContentType : prometheusContentType);
    return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } });
  }
}

// In OpenMetrics a counter is called by its name without the suffix that its values have.
function withoutTotal<M extends { name: string; type: unknown }>(metric: M): M {
  return metric.type === 'counter' ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric;
}

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_MONITOR_MS });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!PROCESS_METRICS.includes(name)) registry.removeSingleMetric(name);
  }
  return registry;
}

function said(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers });
}
