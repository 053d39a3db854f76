// The command line as a whole: every command in its group, and the one place where errors become exit codes.
import { Command, CommanderError, Option } from 'commander';
import { registerApiCommand } from './commands/api.ts';
import { registerAuditCommand } from './commands/audit.ts';
import { registerBackupCommand } from './commands/backup.ts';
import { registerBrowseCommand } from './commands/browse.ts';
import { registerCompletionCommand } from './commands/completion.ts';
import { registerCountCommand } from './commands/count.ts';
import { registerCreateCommand } from './commands/create.ts';
import { registerDeleteCommand } from './commands/delete.ts';
import { registerDoctorCommand } from './commands/doctor.ts';
import { registerExportCommand } from './commands/export.ts';
import { registerGetCommand } from './commands/get.ts';
import { registerHealthCommand } from './commands/health.ts';
import { registerHelpCommand } from './commands/help.ts';
import { registerHistoryCommand } from './commands/history.ts';
import { registerImportCommand } from './commands/import.ts';
import { registerIngestCommand } from './commands/ingest.ts';
import { registerInitCommand } from './commands/init.ts';
import { registerKeysCommand } from './commands/keys.ts';
import { registerLinkCommands } from './commands/link.ts';
import { helpOfList, registerListCommand } from './commands/list.ts';
import { registerListenCommand } from './commands/listen.ts';
import { registerManCommand } from './commands/man.ts';
import { registerMcpCommand } from './commands/mcp.ts';
import { registerMigrateCommand } from './commands/migrate.ts';
import { registerOpenCommand } from './commands/open.ts';
import { registerOpenapiCommand } from './commands/openapi.ts';
import { registerOrgsCommand } from './commands/orgs.ts';
import { registerPeopleCommand } from './commands/people.ts';
import { registerProfileCommand } from './commands/profile.ts';
import { registerQuickstartCommand } from './commands/quickstart.ts';
import { registerRecipeCommand } from './commands/recipe.ts';
import { registerReportCommand } from './commands/report.ts';
import { registerRestoreCommand } from './commands/restore.ts';
import { registerSearchCommand } from './commands/search.ts';
import { registerSecretsCommand } from './commands/secrets.ts';
import { registerServeCommand } from './commands/serve.ts';
import { registerTimelineCommand } from './commands/timeline.ts';
import { registerTopCommand } from './commands/top.ts';
import { registerUndeleteCommand } from './commands/undelete.ts';
import { registerUpdateCommand } from './commands/update.ts';
import { registerUpsertCommand } from './commands/upsert.ts';
import { registerUsersCommand } from './commands/users.ts';
import { registerVersionCommand } from './commands/version.ts';
import { registerWatchCommand } from './commands/watch.ts';
import { registerWebhooksCommand } from './commands/webhooks.ts';
import { CliError, describeError, EXIT, errorCode } from './errors.ts';
import { HELP_LAYOUT, helpColumns, helpEnding, shownHelp } from './help-layout.ts';
import { debugIfAsked } from './settings/debug.ts';
import { debug } from './terminal/debug.ts';
import { OUTPUT_FORMATS } from './terminal/output.ts';
import { endPager } from './terminal/pager.ts';
import { knowCommands } from './terminal/program-name.ts';
import { redact } from './terminal/redact.ts';
import { note, writeOut } from './terminal/streams.ts';
import { commandAt, refuseUnknownHelp, usageErrorOf, withHelpFlag } from './usage-errors.ts';
import { versionLine } from './version.ts';

const EXAMPLES = `
Examples:
  crm init --org "Acme Inc"
  crm import contacts people.csv
  crm list deals --filter status=open`;

/**
 * The command line with all its commands.
 * @param print takes what --help and --version print
 */
export function buildProgram(print: (text: string) => void = () => {}): Command {
  const program = new Command('crm')
    .description('A self-hosted CRM records service and its command line')
    .version(versionLine(), '-V, --version', 'Print version, commit and Bun version')
    .exitOverride()
    .configureOutput({
      outputError: () => {},
      writeErr: () => {},
      writeOut: print,
      getOutHelpWidth: helpColumns,
      getOutHasColors: () => false,
    })
    .configureHelp(HELP_LAYOUT)
    .helpOption('-h, --help', 'Show help for a command')
    .helpCommand('help [command]', 'Show help for a command')
    .showSuggestionAfterError(false);
  addGlobalOptions(program);
  program
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', ({ command }) => helpEnding(program, command));
  program.commandsGroup('Operator commands (work on the database directly):');
  registerServeCommand(program);
  registerInitCommand(program);
  registerOrgsCommand(program);
  registerUsersCommand(program);
  registerKeysCommand(program);
  registerSecretsCommand(program);
  registerAuditCommand(program);
  registerIngestCommand(program);
  registerMigrateCommand(program);
  registerPeopleCommand(program);
  registerBackupCommand(program);
  registerRestoreCommand(program);
  registerDoctorCommand(program);
  program.commandsGroup('Data commands (call a server over HTTP, with an API key):');
  registerImportCommand(program);
  registerListCommand(program);
  registerSearchCommand(program);
  registerCountCommand(program);
  registerGetCommand(program);
  registerCreateCommand(program);
  registerUpdateCommand(program);
  registerUpsertCommand(program);
  registerDeleteCommand(program);
  registerUndeleteCommand(program);
  registerLinkCommands(program);
  registerExportCommand(program);
  registerBrowseCommand(program);
  registerHistoryCommand(program);
  registerTimelineCommand(program);
  registerWatchCommand(program);
  registerTopCommand(program);
  registerWebhooksCommand(program);
  registerListenCommand(program);
  registerReportCommand(program);
  registerApiCommand(program);
  registerMcpCommand(program);
  program.commandsGroup('Try it out:');
  registerQuickstartCommand(program);
  program.commandsGroup('About crm:');
  registerProfileCommand(program);
  registerOpenCommand(program);
  registerOpenapiCommand(program);
  registerCompletionCommand(program);
  registerRecipeCommand(program);
  registerHealthCommand(program);
  registerVersionCommand(program);
  registerHelpCommand(program);
  registerManCommand(program);
  knowCommands(program.commands.map((command) => command.name()));
  return program;
}

function addGlobalOptions(program: Command): void {
  program
    .option('--db <database>', 'Database file, or database URL postgres://user@host/db [CRM_DB, ./crm.db]')
    .option('--url <url>', 'Server URL [CRM_URL, http://127.0.0.1:4000]')
    .option('--api-key-file <file>', 'File with the API key [CRM_API_KEY holds the key itself]')
    .addOption(
      new Option(
        '-o, --output <format>',
        'Output format (default: table on a terminal, otherwise ndjson) [CRM_OUTPUT]',
      ).choices(OUTPUT_FORMATS),
    )
    .option('--profile <name>', 'Profile in the configuration file crm/config.json [CRM_PROFILE]')
    .option('--no-color', 'Disable color [NO_COLOR, TERM=dumb]')
    .option('--no-pager', 'Print what is longer than the screen without a pager [PAGER]')
    .option('--debug', 'Print settings, requests and responses to stderr, without secrets [CRM_DEBUG]')
    .hook('preAction', (_program, command) => debugIfAsked(command));
}

/** Runs the given command line (without the program's name) and resolves with the exit code. */
export async function run(given: readonly string[]): Promise<number> {
  const printed: string[] = [];
  const program = buildProgram((text) => printed.push(text));
  const words = withHelpFlag(program, given);
  try {
    await refuseUnknownHelp(program, words);
    if (words.length === 0) program.outputHelp();
    else await parse(program, words);
    if (printed.length > 0 && commandAt(program, words)?.name() === 'list')
      printed.push(await helpOfList(words));
    if (printed.length > 0) await writeOut(shownHelp(printed.join('')));
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    await endPager();
    return exitCodeOf(program, words, error);
  }
}

async function parse(program: Command, words: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    // Help and version end like this too.
    if (!(error instanceof CommanderError) || error.exitCode !== EXIT.done) throw error;
  }
}

async function exitCodeOf(program: Command, words: readonly string[], error: unknown): Promise<number> {
  // The reader of our output closed the pipe on purpose, as head does.
  if (errorCode(error) === 'EPIPE') return EXIT.done;
  const shown =
    error instanceof CommanderError ? await usageErrorOf(program, words, error) : outputError(error);
  if (shown instanceof CliError) {
    note(describeError(shown));
    return shown.exitCode;
  }
  // The message comes from a library and may contain a secret.
  if (shown instanceof Error) debug(shown.stack ?? '');
  note(redact(describeError(shown)));
  return EXIT.failed;
}

/** A failed write to stdout as an error for people; any other error unchanged. */
function outputError(error: unknown): unknown {
  const reason = { ENOSPC: 'the disk is full', EIO: 'the disk failed' }[errorCode(error)];
  if (reason === undefined || error instanceof CliError) return error;
  return new CliError(`Cannot write the output: ${reason}.`, {
    nextSteps: ['free up disk space or redirect the output elsewhere, then run the command again.'],
    cause: error,
  });
}
