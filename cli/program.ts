// The command line as a whole: every command in its group, and the one place where errors become exit codes.
import { Command, CommanderError, Option } from 'commander';
import { registerAuditCommand } from './commands/audit.ts';
import { registerBackupCommand } from './commands/backup.ts';
import { registerCompletionCommand } from './commands/completion.ts';
import { registerCreateCommand } from './commands/create.ts';
import { registerDeleteCommand } from './commands/delete.ts';
import { registerDoctorCommand } from './commands/doctor.ts';
import { registerExportCommand } from './commands/export.ts';
import { registerGetCommand } from './commands/get.ts';
import { registerHealthCommand } from './commands/health.ts';
import { registerImportCommand } from './commands/import.ts';
import { registerIngestCommand } from './commands/ingest.ts';
import { registerInitCommand } from './commands/init.ts';
import { registerKeysCommand } from './commands/keys.ts';
import { registerLinkCommands } from './commands/link.ts';
import { registerListCommand } from './commands/list.ts';
import { registerMigrateCommand } from './commands/migrate.ts';
import { registerOpenapiCommand } from './commands/openapi.ts';
import { registerOrgsCommand } from './commands/orgs.ts';
import { registerPeopleCommand } from './commands/people.ts';
import { registerQuickstartCommand } from './commands/quickstart.ts';
import { registerRecipeCommand } from './commands/recipe.ts';
import { registerRestoreCommand } from './commands/restore.ts';
import { registerSecretsCommand } from './commands/secrets.ts';
import { registerServeCommand } from './commands/serve.ts';
import { registerUpdateCommand } from './commands/update.ts';
import { registerUsersCommand } from './commands/users.ts';
import { registerVersionCommand } from './commands/version.ts';
import { CliError, describeError, EXIT, errorCode, usageError } from './errors.ts';
import { debugIfAsked } from './settings/debug.ts';
import { debug } from './terminal/debug.ts';
import { OUTPUT_FORMATS } from './terminal/output.ts';
import { redact } from './terminal/redact.ts';
import { note, writeOut } from './terminal/streams.ts';
import { versionLine } from './version.ts';

const ABOUT = 'About crm:';

function buildProgram(): Command {
  const program = new Command('crm')
    .description('A self-hosted CRM records service and its command line.')
    .version(versionLine(), '-V, --version', 'print version, commit and Bun version')
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true });
  addGlobalOptions(program);
  program.commandsGroup('Operator commands (on the database itself):');
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
  program.commandsGroup('Data commands (over HTTP, with an API key):');
  registerImportCommand(program);
  registerListCommand(program);
  registerGetCommand(program);
  registerCreateCommand(program);
  registerUpdateCommand(program);
  registerDeleteCommand(program);
  registerLinkCommands(program);
  registerExportCommand(program);
  program.commandsGroup('To see it all at once:');
  registerQuickstartCommand(program);
  program.commandsGroup(ABOUT);
  registerOpenapiCommand(program);
  registerCompletionCommand(program);
  registerRecipeCommand(program);
  registerHealthCommand(program);
  registerVersionCommand(program);
  program.addHelpCommand(
    new Command('help').argument('[command]').description('print what a command takes').helpGroup(ABOUT),
  );
  return program;
}

function addGlobalOptions(program: Command): void {
  program
    .optionsGroup('Global options, before or after the command:')
    .option('--db <database>', 'a file, or postgres://user@host/database [CRM_DB, ./crm.db]')
    .option('--url <url>', 'server address [CRM_URL, http://127.0.0.1:4000]')
    .option('--api-key-file <file>', 'file that holds the API key [CRM_API_KEY holds the key itself]')
    .addOption(
      new Option('-o, --output <format>', 'table on a terminal, else ndjson [CRM_OUTPUT]').choices(
        OUTPUT_FORMATS,
      ),
    )
    .option('--profile <name>', 'profile of crm/config.json in XDG_CONFIG_HOME [CRM_PROFILE]')
    .option('--no-color', 'no colour [NO_COLOR, TERM=dumb]')
    .option('--debug', 'tell settings, requests and answers on stderr, without secrets [CRM_DEBUG]')
    .hook('preAction', (_program, command) => debugIfAsked(command));
}

/** Runs the command line given (without the program's own name) and resolves with the exit code. */
export async function run(given: readonly string[]): Promise<number> {
  const program = buildProgram();
  const words = withHelpFlag(program, given);
  try {
    refuseUnknownHelp(program, words);
    if (words.length === 0) await writeOut(program.helpInformation());
    else await program.parseAsync(words, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    return exitCodeOf(program, words, error);
  }
}

/** The words with `--help` for a `help` among them; commander's own help command knows one level and no mistakes. */
function withHelpFlag(program: Command, words: readonly string[]): readonly string[] {
  const at = words.indexOf('help');
  const group = commandAt(program, words.slice(0, Math.max(0, at)));
  if (at < 0 || group === undefined || group.commands.length === 0) return words;
  return [...words.filter((word) => word !== 'help'), '--help'];
}

/** Throws where help is asked for on a command that there is not: commander would give that of all. */
function refuseUnknownHelp(program: Command, words: readonly string[]): void {
  const path = words.slice(
    0,
    words.findIndex((word) => word.startsWith('-')),
  );
  if (!['--help', '-h'].includes(words[path.length] ?? '') || commandAt(program, path) !== undefined) return;
  const known = commandPath(program, path);
  throw usageError(
    `There is no command "crm ${path.join(' ')}".`,
    `run "${known} --help" to see which there are.`,
  );
}

/** The command that the words name; words behind one that has no commands of its own are its arguments. */
function commandAt(program: Command, words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const word of words) {
    if (command === undefined || command.commands.length === 0) break;
    command = command.commands.find((one) => one.name() === word);
  }
  return command;
}

function exitCodeOf(program: Command, words: readonly string[], error: unknown): number {
  // Whoever read our output has seen enough.
  if (errorCode(error) === 'EPIPE') return EXIT.done;
  const shown = error instanceof CommanderError ? usageErrorOf(program, words, error) : outputError(error);
  if (shown === null) return EXIT.done;
  if (shown instanceof CliError) {
    note(describeError(shown));
    return shown.exitCode;
  }
  // What a library says of itself, nobody has looked through.
  if (shown instanceof Error) debug(shown.stack ?? '');
  note(redact(describeError(shown)));
  return EXIT.failed;
}

/** A failed write to stdout as an error for people; anything else as it is. */
function outputError(error: unknown): unknown {
  const reason = { ENOSPC: 'its disk is full', EIO: 'its disk failed' }[errorCode(error)];
  if (reason === undefined || error instanceof CliError) return error;
  return new CliError(`The output cannot be written: ${reason}.`, {
    nextSteps: ['free some space, or send the output elsewhere, and run the command again.'],
    cause: error,
  });
}

/** commander's complaint as a usage error of ours; null where it only ended after help or version. */
function usageErrorOf(program: Command, words: readonly string[], error: CommanderError): CliError | null {
  if (error.exitCode === 0) return null;
  const name = commandPath(program, words);
  if (error.code === 'commander.help') {
    return usageError(`"${name}" needs a command of its own.`, `run "${name} --help" to see which.`);
  }
  const message = error.message.replace(/^error: /, '');
  return usageError(message, `run "${name} --help" to see what it takes.`);
}

function commandPath(program: Command, words: readonly string[]): string {
  const path = ['crm'];
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) continue;
    command = next;
    path.push(word);
  }
  return path.join(' ');
}
