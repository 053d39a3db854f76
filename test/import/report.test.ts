// What the parts of an import or export tell one display, one after the other.
import { expect, test } from 'bun:test';
import { ExportDisplay } from '../../cli/export/display.ts';
import { Reporter } from '../../cli/import/session/report.ts';
import type { ProgressState } from '../../cli/terminal/progress-text.ts';

test('every part is counted from its own beginning', async () => {
  const shown: [label: string, state: ProgressState][] = [];
  const reporter = new Reporter(false, async ({ label }) => ({
    update: (state) => void shown.push([label, state]),
    wait: () => {},
    stop: async () => {},
  }));
  await reporter.start({ label: 'notes', unit: 'rows', total: 9 });
  reporter.settled(9, { created: 5, updated: 1, skipped: 1, rejected: 2 });
  await reporter.stop();
  await reporter.start({ label: 'links', unit: 'links', total: 3, startAt: 1 });
  reporter.settled(2, { created: 1, updated: 0, skipped: 0, rejected: 0 });
  expect(shown).toEqual([
    ['notes', { done: 0, ok: 0, failed: 0, skipped: 0, reasons: [] }],
    ['notes', { done: 9, ok: 6, failed: 2, skipped: 1, reasons: [] }],
    ['links', { done: 1, ok: 0, failed: 0, skipped: 0, reasons: [] }],
    ['links', { done: 2, ok: 1, failed: 0, skipped: 0, reasons: [] }],
  ]);
});

test('an export counts records, and not those whose links it looks for', () => {
  const display = new ExportDisplay(true);
  display.update({ done: 5 });
  display.settle(5);
  display.show({ done: 3 });
  expect(display.records).toBe(5);
});
