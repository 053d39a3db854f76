// Carries out `crm doctor`: makes all checks, and prints the findings.
import { withStore } from '../database/database.ts';
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { stdout, writeOut } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { terminalWidth, wrapLines } from '../terminal/wrap.ts';
import { checkDatabase } from './database.ts';
import type { Finding, FindingSection, FindingStatus } from './finding.ts';
import { rebuildSearch } from './search.ts';
import { checkService } from './server.ts';
import { checkSettings } from './settings.ts';

const MARKS: Record<FindingStatus, string> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };
const MARK_CHARACTERS = 10;
const WORDS_CHARACTERS_MIN = 30;
const COLORS: Record<FindingStatus, number> = { ok: 32, warn: 33, fail: 31 };

/** What `crm doctor` can do besides. */
export interface DoctorFlags {
  rebuildSearch?: boolean;
}

/** Prints all findings; throws if a check failed. */
export async function runDoctor(flags: DoctorFlags, config: Config): Promise<void> {
  if (flags.rebuildSearch === true) await withStore(config.db, rebuildSearch);
  const sections: FindingSection[] = [
    { section: 'settings', findings: checkSettings(config) },
    { section: 'database', findings: await checkDatabase(config.db, isNamed(config)) },
    { section: 'server', findings: await checkService(config) },
  ];
  await writeOut(textOf(sections, config));
  const failed = sections.flatMap(({ findings }) => findings).filter(({ status }) => status === 'fail');
  if (failed.length === 0) return;
  throw new CliError(
    `${counted(failed.length, 'check')} failed: ${failed.map(({ check }) => check).join(', ')}.`,
    {
      nextSteps: failed.flatMap(({ next }) => next ?? []),
    },
  );
}

// A database need not exist at the default path.
function isNamed({ sources }: Config): boolean {
  return sources.some(({ name, from }) => name === 'db' && from !== 'default');
}

function textOf(sections: readonly FindingSection[], { output, isOutputGiven, isColored }: Config): string {
  if (isOutputGiven && output !== 'table') {
    const rows = sections.flatMap(({ section, findings }) =>
      findings.map((finding) => ({ section, ...finding })),
    );
    return output === 'json'
      ? `${JSON.stringify(rows, null, 2)}\n`
      : rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  }
  const width = Math.max(...sections.flatMap(({ findings }) => findings.map(({ check }) => check.length)));
  // On the line of the check's name, unless the terminal is too narrow for both.
  const columns = terminalWidth(stdout);
  const beside = MARK_CHARACTERS + width;
  const indent = columns < beside + WORDS_CHARACTERS_MIN ? MARK_CHARACTERS : beside;
  const text = sections
    .map(
      ({ section, findings }) =>
        `${section}\n${findings.map((finding) => lineOf(finding, width, isColored)).join('')}`,
    )
    .join('\n');
  return wrapLines(text, columns, indent);
}

function lineOf({ check, status, found, next }: Finding, width: number, isColored: boolean): string {
  const mark = isColored ? `\u001b[${COLORS[status]}m${MARKS[status]}\u001b[39m` : MARKS[status];
  const line = `  ${mark}  ${check.padEnd(width)}  ${neutralizeLine(found)}\n`;
  return next === null
    ? line
    : `${line}  ${' '.repeat(4)}  ${' '.repeat(width)}  → ${neutralizeLine(withProgramName(next))}\n`;
}
