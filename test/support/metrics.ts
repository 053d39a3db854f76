// Reads what a server tells on its metrics port, as Prometheus would.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export class Scrape {
  readonly text: string;
  readonly samples: Sample[];

  /** @throws where a line is no sample, or a series stands there twice */
  constructor(text: string) {
    this.text = text;
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    this.samples = lines.map(parse);
    const series = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
    const repeated = series.find((one, index) => series.indexOf(one) !== index);
    if (repeated !== undefined) throw new Error(`${repeated} stands there twice`);
  }

  /** What the server reports now. */
  static async of(url: string | null, headers: Record<string, string> = {}): Promise<Scrape> {
    const response = await fetch(url ?? '', { headers });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return new Scrape(await response.text());
  }

  /** The names of families, as their types are declared. */
  get families(): string[] {
    return [...this.text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
  }

  /** The sum of a name's values over all series with these labels; undefined where there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }

  /** The values that a label has. */
  labelValues(label: string): string[] {
    return [...new Set(this.samples.flatMap(({ labels }) => labels[label] ?? []))];
  }
}

function parse(line: string): Sample {
  const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
  if (name === '') throw new Error(`no sample: ${line}`);
  const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
