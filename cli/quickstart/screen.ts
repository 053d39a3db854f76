// What quickstart prints to stderr: a line for each step, with a progress bar and color on a terminal only.

import { counted, formatBytes, formatCount, formatTime } from '../terminal/format.ts';
import { type Progress, type ProgressOptions, startProgress } from '../terminal/progress.ts';
import { stderr, writeForPeople } from '../terminal/streams.ts';
import { neutralize } from '../terminal/text.ts';
import { type Wait, waitInWords } from '../terminal/wait-reasons.ts';
import { type Measure, perSecond } from './stats.ts';

/** The progress of some work. */
export interface Done {
  done: number;
  requests: number;
  /** Bytes read, if the work reads. */
  bytes?: number;
}

export interface MeasuredWork {
  label: string;
  /** Plural, such as `contacts`. */
  unit: string;
  total: number;
  run(report: (done: Done) => void): Promise<Done>;
}

/** Shows the steps of the journey. */
export interface Screen {
  /** A highlighted line. */
  heading(text: string): void;
  /** A finished step and its result. */
  step(label: string, detail: string): void;
  /** Sentences, wrapped between words. */
  prose(text: string): void;
  /** Lines to copy, or aligned lines; never wrapped. */
  text(lines: string): void;
  /** Runs work of known size with a progress bar, and prints it as a finished step. */
  measure(work: MeasuredWork): Promise<Measure>;
  /** A finished step with its figures. */
  measured(label: string, unit: string, measure: Measure): void;
  /** Whether the screen can show a bar. */
  readonly hasBars: boolean;
  /** A progress bar for work that prints no line; nothing without a terminal. */
  bar(options: ProgressOptions): Promise<Progress>;
  /** Shows what the running work waits for. */
  wait(wait: Wait): void;
}

const LABEL_CHARACTERS = 13;

/** A screen on stderr. */
export function createScreen(isColored: boolean): Screen {
  const paint = (code: number, text: string): string =>
    isColored ? `\u001b[${code}m${text}\u001b[0m` : text;
  const write = (text: string): void => writeForPeople(`${text}\n`);
  const stepLine = (label: string, detail: string): string =>
    `${paint(32, '✓')} ${paint(1, label.padEnd(LABEL_CHARACTERS))} ${wrapped(neutralize(detail))}`;
  const measured = (label: string, unit: string, measure: Measure): void =>
    write(stepLine(label, describe(unit, measure)));
  // Without a terminal there is no bar: the lines of the steps, seconds apart, show the progress.
  const hasBars = stderr.isTTY && process.env.TERM !== 'dumb';
  let running: Progress | null = null;
  return {
    heading: (text) => write(paint(1, Bun.wrapAnsi(neutralize(text), terminalColumns()))),
    prose: (text) => write(Bun.wrapAnsi(neutralize(text), terminalColumns())),
    step: (label, detail) => write(stepLine(label, detail)),
    text: (lines) => write(neutralize(lines)),
    wait: (wait) => {
      if (running === null) write(`  ${waitInWords(wait)}`);
      else running.wait(wait);
    },
    measured,
    measure: async (work) => {
      const { label, unit, total } = work;
      const bar = hasBars ? await startProgress({ label: `${label} ${unit}`, unit, total }) : null;
      running = bar;
      const startedMs = performance.now();
      let result: Measure;
      try {
        const { done, ...rest } = await work.run((latest) => bar?.update({ done: latest.done }));
        result = { records: done, ...rest, seconds: (performance.now() - startedMs) / 1_000 };
      } finally {
        running = null;
        await bar?.stop();
      }
      measured(label, unit, result);
      return result;
    },
    hasBars,
    bar: (options) => startProgress({ ...options, quiet: !hasBars }),
  };
}

function terminalColumns(): number {
  return stderr.isTTY ? stderr.columns || 80 : Number.MAX_SAFE_INTEGER;
}

// On a terminal, a long detail is indented to its start, or to its label if the terminal is narrow.
function wrapped(detail: string): string {
  const columns = terminalColumns();
  const indent = LABEL_CHARACTERS + 3;
  if (indent + Bun.stringWidth(detail) <= columns) return detail;
  const isNarrow = columns < 60;
  const [margin, room] = isNarrow ? [2, columns - 2] : [indent, columns - indent];
  const lines = Bun.wrapAnsi(detail, room - 1).split('\n');
  return (isNarrow ? ['', ...lines] : lines).join(`\n${' '.repeat(margin)}`);
}

function describe(unit: string, { records, requests, bytes, seconds }: Measure): string {
  const facts = [
    `${formatCount(records)} ${unit}`,
    counted(requests, 'request'),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
    formatTime(seconds),
    `${formatCount(perSecond(records, seconds))}/s`,
  ];
  return facts.join(', ');
}
