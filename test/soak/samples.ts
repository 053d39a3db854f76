// What a running server takes, read every few seconds from the kernel and the disk, and how fast that grows.
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMicros } from '../bench/process.ts';
import type { MemoryHeld } from './memory-probe.ts';

const KIB = 1_024;
const MIB = KIB * KIB;
const HOUR_SECONDS = 3_600;
// What there is more of only until it is collected, or the write-ahead log starts over, is not growth: a line is laid
// through the least of every few minutes.
const BLOCK_SECONDS = 180;

/** One look at a server: seconds since the first, MiB, and counts. */
export interface Sample extends MemoryHeld {
  seconds: number;
  rss: number;
  /** Of that, what is no file's. */
  anonymous: number;
  descriptors: number;
  threads: number;
  cpuSeconds: number;
  /** MiB of the database, of its log of writes, and of its backups; 0 for what is no file here. */
  database: number;
  wal: number;
  backups: number;
}

export interface Watched {
  pid: number;
  /** The database, if it is a file. */
  db: string;
  backupFolder: string;
  /** To which the probe in the server writes, if it has one. */
  memory?: string;
  /** A file to which each sample is added, as a line of JSON. */
  out?: string;
}

/** Samples until it is ended. */
export class Sampling {
  readonly samples: Sample[] = [];
  readonly #watched: Watched;
  readonly #startedAt = performance.now();
  readonly #timer: Timer;

  constructor(watched: Watched, everyMs: number) {
    this.#watched = watched;
    this.#timer = setInterval(() => this.#take(), everyMs);
  }

  end(): Sample[] {
    clearInterval(this.#timer);
    return this.samples;
  }

  #take(): void {
    const { pid, db, backupFolder, memory, out } = this.#watched;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    const sample: Sample = {
      seconds: (performance.now() - this.#startedAt) / 1_000,
      rss: number('VmRSS') / KIB,
      anonymous: number('RssAnon') / KIB,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      threads: number('Threads'),
      cpuSeconds: cpuMicros(pid) / 1_000_000,
      database: mebibytes(db),
      wal: mebibytes(`${db}-wal`),
      backups: sum(filesIn(backupFolder).map(mebibytes)),
      ...lastHeld(memory),
    };
    this.samples.push(sample);
    if (out !== undefined) appendFileSync(out, `${JSON.stringify(sample)}\n`);
  }
}

/** How fast something grows in an hour, and the standard error: of a line by least squares through the least of every 3 minutes. */
export function slopeOf(samples: readonly Sample[], name: keyof Sample): { perHour: number; error: number } {
  const blocks = Map.groupBy(samples, ({ seconds }) => Math.floor(seconds / BLOCK_SECONDS));
  const points = [...blocks.values()].map((block) => [
    mean(block.map((one) => one.seconds)) / HOUR_SECONDS,
    Math.min(...block.map((one) => one[name])),
  ]) as [number, number][];
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = sum(points.map(([at]) => (at - x) ** 2));
  const perHour = sum(points.map(([at, value]) => (at - x) * (value - y))) / spread;
  const residue = sum(points.map(([at, value]) => (value - y - perHour * (at - x)) ** 2));
  return { perHour, error: Math.sqrt(residue / (points.length - 2) / spread) };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

function lastHeld(file: string | undefined): MemoryHeld {
  const line =
    file !== undefined && existsSync(file)
      ? readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)
      : undefined;
  return line === undefined ? { heap: 0, native: 0, pages: 0 } : JSON.parse(line);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function mebibytes(file: string): number {
  try {
    return statSync(file).size / MIB;
  } catch {
    return 0;
  }
}
