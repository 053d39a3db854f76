// The port that serves metrics and nothing else; it needs no key.
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
  /** 0 picks any free port. */
  port: number;
}

/** The default metrics of prom-client that are valid on Bun as well; its V8 metrics do not apply to JavaScriptCore. */
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
// prom-client runs this monitor whether its figures are used or not.
const LOOP_MONITOR_MS = 1_000;

/** Serves the metrics of a service. */
export class MetricsPort {
  readonly #process = processRegistry();
  readonly #gather: () => Promise<Metric[][]>;
  readonly #socket: Bun.Server<undefined>;
  readonly #host: string;

  /**
   * Starts to listen on a port that is free, as `freePort` checks.
   * @param gather returns the metrics of each thread
   * @throws the system's error if the address cannot be taken
   */
  constructor({ host, port }: MetricsAddress, gather: () => Promise<Metric[][]>) {
    this.#gather = gather;
    this.#host = host.includes(':') ? `[${host}]` : host;
    this.#socket = Bun.serve({
      hostname: host,
      port,
      // Lets a server that is about to take over check that no other program uses the port.
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
    if (new URL(request.url).pathname !== PATH)
      return plainText(404, `Not found: this port serves only ${PATH}.`);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return plainText(405, `${PATH} supports only GET and HEAD.`, { Allow: 'GET, HEAD' });
    try {
      return await this.#render(request.headers.get('Accept') ?? '');
    } catch {
      return plainText(503, 'The metrics are not available right now.');
    }
  }

  async #render(accepted: string): Promise<Response> {
    const isOpen = accepted.includes(OPEN_METRICS);
    const [own, threads] = await Promise.all([this.#process.getMetricsAsJSON(), this.#gather()]);
    // Otherwise prom-client drops some default metrics, which it cannot combine across processes.
    const ofProcess = own.map((metric) => ({ ...metric, aggregator: 'first' }));
    const all = [...threads, ofProcess].map((metrics) => (isOpen ? metrics.map(withoutTotal) : metrics));
    const registry = AggregatorRegistry.aggregate<RegistryContentType>(all);
    registry.setContentType(isOpen ? openMetricsContentType : prometheusContentType);
    return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } });
  }
}

// OpenMetrics names a counter without the suffix of its values.
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

function plainText(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers });
}
