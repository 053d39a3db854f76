// The progress display: what it says, how it fits narrow terminals, and an ETA that knows the rate limit.
import { afterEach, describe, expect, jest, test } from 'bun:test';
import { cleanup, render } from 'ink-testing-library';
import { RejectionReasons } from '../../cli/import/session/rejection-reasons.ts';
import { formatDuration } from '../../cli/terminal/format.ts';
import { ProgressView } from '../../cli/terminal/ProgressView.tsx';
import { estimateInWords, estimateSeconds, Meter, startProgress } from '../../cli/terminal/progress.ts';
import { progressLine, type Snapshot } from '../../cli/terminal/progress-text.ts';
import { notesBy } from '../../cli/terminal/streams.ts';

afterEach(cleanup);

const snapshot: Snapshot = {
  label: 'Importing deals',
  unit: 'rows',
  total: 8_800,
  done: 5_000,
  ok: 4_990,
  failed: 10,
  ratePerSecond: 312.4,
  etaSeconds: 12.2,
  note: 'waiting 12 s for the rate limit',
};

function frame(columns: number, view: Partial<Snapshot> = {}): string {
  return (
    render(
      <ProgressView snapshot={{ ...snapshot, ...view }} columns={columns} hasColor={false} />,
    ).lastFrame() ?? ''
  );
}

describe('the progress bar', () => {
  test('shows bar, rate, ETA, counts and what it waits for', () => {
    expect(frame(80)).toBe(
      [
        'Importing deals  ██████████████████████░░░░░░░░░░░░░░░░░  56%  5,000/8,800 rows',
        '312 rows/s · 12 s left · 4,990 ok · 10 failed',
        'waiting 12 s for the rate limit',
      ].join('\n'),
    );
  });

  test('groups what is rejected by its reason, a line each', () => {
    const reasons = new RejectionReasons();
    const missing = (name: string) => ({
      ...{ code: 'RESOURCE_NOT_FOUND', path: 'company' },
      message: `no company has the name "${name}"; create it with --create-missing`,
    });
    const row = { line: 2, entries: [], original: [], fault: null };
    for (const name of ['Acme', 'Globex']) reasons.take(row, missing(name), null);
    reasons.take(
      row,
      { code: 'VALIDATION_FAILED', path: 'email', message: 'must be an email address' },
      null,
    );
    expect(frame(48, { reasons: reasons.shortLines }).split('\n').slice(3)).toEqual([
      '  2 rows: company: no company has the name "Acm…',
      '  1 row: email: must be an email address',
    ]);
  });

  test('gives up the bar, and never a second line, on a narrow terminal', () => {
    expect(frame(36)).toBe(
      [
        'Importing deals  56%  5,000/8,800 r…',
        '312 rows/s 12 s left 4,990 ok 10 fa…',
        'waiting 12 s for the rate limit',
      ].join('\n'),
    );
  });

  test('counts upwards where the end is not known', () => {
    const text = frame(80, { total: null, etaSeconds: null, failed: 0, note: undefined });
    expect(text).toBe('Importing deals  5,000 rows\n312 rows/s · 4,990 ok');
  });

  test('colours only where colour is wanted', () => {
    const view = (hasColor: boolean) =>
      JSON.stringify(ProgressView({ snapshot, columns: 80, hasColor }), (key, value: unknown) =>
        key === '_owner' || key === '_store' ? undefined : value,
      );
    expect(view(true)).toContain('"color":"red"');
    expect(view(false)).not.toContain('"color"');
  });
});

describe('the plain line', () => {
  test('says the same in one line', () => {
    expect(progressLine(snapshot)).toBe(
      'Importing deals: 5,000 of 8,800 rows (56%), 312 rows/s, 12 s left, 4,990 ok, 10 failed – waiting 12 s for the rate limit',
    );
  });

  test('comes every three seconds where there is no terminal, after an estimate, and once at the end', async () => {
    const said: string[] = [];
    const stopListening = notesBy((text) => void said.push(text));
    const { TERM = '' } = process.env;
    process.env.TERM = 'dumb';
    jest.useFakeTimers();
    try {
      const options = { label: 'Importing', unit: 'rows', total: 9, ratePerMinuteMax: 3 };
      const progress = await startProgress(options);
      progress.update({ done: 2, ok: 1, failed: 1 });
      jest.advanceTimersByTime(7_000);
      await progress.stop('Done.');
      jest.advanceTimersByTime(7_000);
    } finally {
      jest.useRealTimers();
      stopListening();
      process.env.TERM = TERM;
    }
    // Rate and ETA depend on the moment.
    const shown = said.map((line) => line.replace(/, [^,]+ rows\/s(, [^,]+ left)?/, ''));
    const line = 'Importing: 2 of 9 rows (22%), 1 ok, 1 failed\n';
    expect(shown).toEqual(['Importing: 9 rows at 3 a minute: 3 min.\n', line, line, 'Done.\n']);
  });

  test('one row is no rows', () => {
    const line = (done: number, total: number | null) =>
      progressLine({ label: 'Importing', unit: 'rows', done, total, ratePerSecond: null, etaSeconds: null });
    expect([line(1, 1), line(0, 1), line(1, 2), line(1, null)]).toEqual([
      'Importing: 1 of 1 row (100%)',
      'Importing: 0 of 1 row (0%)',
      'Importing: 1 of 2 rows (50%)',
      'Importing: 1 row',
    ]);
  });

  test('durations are said as people say them', () => {
    expect([0.4, 59.6, 125, 4_800].map(formatDuration)).toEqual([
      '0 s',
      '1 min 0 s',
      '2 min 5 s',
      '1 h 20 min',
    ]);
  });
});

describe('the ETA', () => {
  const base = { ratePerSecond: 1_000, ratePerMinuteMax: 20_000, usedThisMinute: 0, secondsLeftInMinute: 60 };

  test('is plain division while the budget lasts', () => {
    expect(estimateSeconds({ ...base, remaining: 15_000 })).toBe(15);
  });

  test('waits for the next minute once the budget is used up', () => {
    expect(
      estimateSeconds({ ...base, remaining: 5_000, usedThisMinute: 20_000, secondsLeftInMinute: 40 }),
    ).toBe(45);
  });

  test('counts every minute it has to wait for', () => {
    expect(estimateSeconds({ ...base, remaining: 50_000 })).toBe(60 + 60 + 10);
  });

  test('is not lengthened by a limit that the work never reaches', () => {
    expect(estimateSeconds({ ...base, ratePerSecond: 100, remaining: 12_000 })).toBe(120);
  });

  test('speed is measured without the waits, and a wait means that the minute is spent', () => {
    const meter = new Meter({ label: '', unit: 'rows', total: 30_000, ratePerMinuteMax: 20_000 }, 0);
    meter.update({ done: 10_000 }, 10_000);
    meter.update({ done: 20_000 }, 20_000);
    meter.wait({ seconds: 40, reason: 'rate limit' }, 20_000);
    const waiting = meter.snapshot(30_000);
    expect(waiting.ratePerSecond).toBe(1_000);
    expect(waiting.etaSeconds).toBe(30 + 10);
    expect(waiting.note).toBe('waiting 30 s for the rate limit');
    meter.update({ done: 25_000 }, 65_000);
    const after = meter.snapshot(65_000);
    expect([after.ratePerSecond, after.note]).toEqual([1_000, undefined]);
  });

  test('where only a share is known, that says how much is left', () => {
    const meter = new Meter({ label: 'Exporting', unit: 'records', total: null }, 0);
    meter.update({ done: 1_000, share: 0.25 }, 10_000);
    const quarter = meter.snapshot(10_000);
    expect(quarter.etaSeconds).toBe(30);
    expect(progressLine(quarter)).toBe('Exporting: 1,000 records (25%), 100 records/s, 30 s left');
  });

  test('more was done than was counted before', () => {
    const meter = new Meter({ label: 'Deleting', unit: 'rows', total: 100 }, 0);
    meter.update({ done: 120 }, 10_000);
    expect(progressLine(meter.snapshot(10_000))).toBe('Deleting: 100 of 100 rows (100%), 12 rows/s');
  });

  test.each([
    [{ total: 40_000 }, 'Work: 40,000 rows at 20,000 a minute: 2 min.'],
    [{ total: 40_000, startAt: 30_000 }, null],
    [{ total: null, about: 100_000 }, 'Work: about 100,000 rows at 20,000 a minute: 5 min.'],
    [
      { total: 1_000_000, faster: { ratePerMinuteMax: 100_000, command: 'crm keys update ID' } },
      'Work: 1,000,000 rows at 20,000 a minute: 50 min.\nAt 100,000 a minute it takes 10 min. To raise the limit, ask the operator to run: crm keys update ID',
    ],
    [{ total: 2_410_000 }, 'Work: 2,410,000 rows at 20,000 a minute: 2 h 1 min.'],
    [{ total: null }, null],
    [{ total: 19_000 }, null],
  ])('long work is reported beforehand: %j', (options, words) => {
    expect(estimateInWords({ label: 'Work', unit: 'rows', ratePerMinuteMax: 20_000, ...options })).toBe(
      words,
    );
  });

  test('what an earlier run did is no speed of this one', () => {
    const meter = new Meter({ label: '', unit: 'rows', total: 10_000, startAt: 5_000 }, 0);
    meter.update({ done: 6_000 }, 1_000);
    expect(meter.snapshot(1_000).ratePerSecond).toBe(1_000);
  });
});
