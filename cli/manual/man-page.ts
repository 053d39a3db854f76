// The page that `crm man` prints: commands with their options, then the manual, then the usual sections of man pages.
import type { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { VERSION } from '../version.ts';
import { globalRows, referencesOf } from './reference.ts';
import { roffArgument, roffLines, roffOf, roffText } from './roff.ts';
import { allTopics, pageTitle } from './topics.ts';

type Entry = [term: string, meaning: string];

/** The variables that commands read. */
export const ENVIRONMENT: readonly Entry[] = [
  ['CRM_DB', 'the database, without --db: a file, or a database URL of PostgreSQL'],
  ['CRM_URL', 'the server URL, without --url'],
  ['CRM_API_KEY', 'the API key of data commands, without --api-key-file'],
  ['CRM_OUTPUT', 'the output format, without --output: table, json, ndjson or csv'],
  ['CRM_PROFILE', 'the profile, without --profile'],
  ['CRM_DEBUG', '1 has the effect of --debug'],
  ['NO_COLOR', 'any value disables color'],
  ['PAGER', 'the pager of "crm help", "less -R" if unset; empty for none'],
  ['XDG_CONFIG_HOME', 'the folder of crm/config.json; ~/.config if unset'],
  ['XDG_STATE_HOME', 'the folder of crm/, which contains locks of imports; ~/.local/state if unset'],
  ['PGPASSWORD, PGPASSFILE, PGSSLMODE', 'read like psql does, for a PostgreSQL database'],
];

const EXIT_STATUS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'Done.',
  failed: 'Failed.',
  usage: 'The command was not used correctly.',
  rejectedRows: 'An import or ingest finished, and rejected some rows.',
  auth: 'The API key is missing, not valid or lacks a scope, or a quota is used up.',
  interrupted: 'Interrupted by Ctrl-C.',
  terminated: '"crm watch" or "crm listen" was ended by SIGTERM.',
};

const FILES: readonly Entry[] = [
  ['./crm.db', 'the database, unless --db or CRM_DB names another'],
  ['$XDG_CONFIG_HOME/crm/config.json', 'the profiles'],
  ['FILE.crm-journal', 'what an import of FILE has done, so that it can continue after a crash'],
  ['FILE.crm-journal-update', 'the same for "crm update --from FILE"; likewise for delete'],
  ['FILE.errors.csv', 'the rows of FILE that an import rejected, with the reasons'],
];

/** The whole manual as one page in roff. */
export function manPage(program: Command, now = new Date()): string {
  const [date = ''] = now.toISOString().split('T');
  // Formatters read the date too, and need plain hyphens.
  const heading = `CRM 1 ${date} ${roffArgument(`crm ${VERSION}`)} ${roffArgument('crm manual')}`;
  const sections = [
    section('NAME', `crm \\- ${roffText(program.description().replace(/^A /, 'a '))}\n`),
    section('SYNOPSIS', '.B crm\n[\\fIglobal options\\fR] \\fIcommand\\fR [\\fIoptions\\fR]\n'),
    section('COMMANDS', commands(program)),
    section('GLOBAL OPTIONS', entries(globalRows(program))),
    ...allTopics().map(({ page }) => section(pageTitle(page).toUpperCase(), roffOf(page))),
    section('ENVIRONMENT', entries(ENVIRONMENT)),
    section('EXIT STATUS', entries(exitStatus())),
    section('FILES', entries(FILES)),
  ];
  return `.TH ${heading}\n${sections.join('')}`;
}

function section(title: string, body: string): string {
  return `.SH ${roffArgument(title)}\n${body}`;
}

function commands(program: Command): string {
  const help = program.createHelp();
  return help
    .visibleCommands(program)
    .flatMap(referencesOf)
    .map(
      ({ usage, description, rows }) => `.SS ${roffArgument(usage)}\n${prose(description)}${entries(rows)}`,
    )
    .join('');
}

function entries(rows: readonly Entry[]): string {
  return rows.map(([term, meaning]) => `.TP\n\\fB${roffText(term)}\\fR\n${prose(meaning)}`).join('');
}

function exitStatus(): Entry[] {
  return Object.entries(EXIT_STATUS).map(([name, meaning]) => [
    String(EXIT[name as keyof typeof EXIT]),
    meaning,
  ]);
}

// Plain text, not Markdown.
function prose(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => paragraph.replaceAll('\n', ' ').trim());
  return `${paragraphs.map((paragraph) => roffLines(paragraph)).join('\n.PP\n')}\n`;
}
