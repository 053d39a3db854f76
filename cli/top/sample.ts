// The metrics of a server at one moment, read from the text that Prometheus reads.

/** One value of a family, with its labels. */
export interface LabelledValue {
  labels: Readonly<Record<string, string>>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** All values of one moment. */
export class MetricsSample {
  /** In milliseconds, of a clock that never jumps. */
  readonly atMs: number;
  readonly #families: ReadonlyMap<string, readonly LabelledValue[]>;

  constructor(atMs: number, families: ReadonlyMap<string, readonly LabelledValue[]>) {
    this.atMs = atMs;
    this.#families = families;
  }

  has(name: string): boolean {
    return this.#families.has(name);
  }

  series(name: string): readonly LabelledValue[] {
    return this.#families.get(name) ?? [];
  }

  /** The sum of a family's values, of those with these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const fits = (one: LabelledValue): boolean =>
      Object.entries(labels).every(([key, value]) => one.labels[key] === value);
    return this.series(name).reduce((sum, one) => (fits(one) ? sum + one.value : sum), 0);
  }
}

/** Reads the text format of Prometheus; lines that are something else are passed over. */
export function metricsOf(text: string, atMs: number): MetricsSample {
  const families = new Map<string, LabelledValue[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', number = ''] = LINE.exec(line) ?? [];
    const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
    if (name === undefined || Number.isNaN(value)) continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', one = '']) => [
      key,
      one.replace(/\\(.)/g, '$1'),
    ]);
    const series = families.get(name) ?? [];
    families.set(name, series);
    series.push({ labels: Object.fromEntries(pairs), value });
  }
  return new MetricsSample(atMs, families);
}
