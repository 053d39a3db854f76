// `crm doctor`: checks settings, database and server, and says how to fix what is wrong.
import type { Command } from 'commander';
import type { Finding, FindingSection, FindingStatus } from '../doctor/finding.ts';
import { CliError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { writeOut } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { terminalWidth, wrapLines } from '../terminal/wrap.ts';

const HELP = `
Doctor checks where each setting comes from. It checks the database: whether it opens and is intact, its indexes, free
disk space, and the age of the last backup. It checks the server: whether it responds and is ready, its clock, its version,
and what your API key can read. It reads all of the database and writes nothing. Checking the key takes 11 requests.

The exit code is 1 if a check fails; warnings do not count. A server that does not respond is a warning. A missing
database is a warning too, unless --db, CRM_DB or a profile names it.

Examples:
  crm doctor
  crm doctor --db /var/lib/crm/crm.db -o json`;

const MARKS: Record<FindingStatus, string> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };
const MARK_CHARACTERS = 10;
const WORDS_CHARACTERS_MIN = 30;
const COLORS: Record<FindingStatus, number> = { ok: 32, warn: 33, fail: 31 };

/** Adds `crm doctor`. */
export function registerDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary('Find problems and how to fix them')
    .description('Find problems with settings, database and server, and how to fix them')
    .addHelpText('after', HELP)
    .action((_options: unknown, command: Command) => runDoctor(resolveConfig(command)));
}

async function runDoctor(config: Config): Promise<void> {
  const { checkSettings } = await import('../doctor/settings.ts');
  const { checkDatabase } = await import('../doctor/database.ts');
  const { checkService } = await import('../doctor/server.ts');
  const sections: FindingSection[] = [
    { section: 'settings', findings: await checkSettings(config) },
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
  const columns = terminalWidth(process.stdout);
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
