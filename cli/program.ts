// The command line as a whole: the program, its global options, and the one place where errors become exit codes.
import { Command, CommanderError, Option } from 'commander';
import { COMMAND_NAMES, registerCommands } from './command-table.ts';
import { helpOfList } from './commands/list.ts';
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
 * The command line with all its commands, or with one of them.
 * @param print takes what --help and --version print
 * @param only as `registerCommands` takes it
 */
export function buildProgram(print: (text: string) => void = () => {}, only?: string): Command {
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
  registerCommands(program, only);
  knowCommands(COMMAND_NAMES);
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
  const program = buildProgram((text) => printed.push(text), typedCommand(given));
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
    return exitCodeOf(words, error);
  }
}

/** The first word that is neither an option of the program nor the value of one. */
function typedCommand(words: readonly string[]): string | undefined {
  const bare = new Command().exitOverride().configureOutput({ outputError: () => {} });
  addGlobalOptions(bare);
  try {
    return bare.parseOptions([...words]).operands[0];
  } catch {
    // The program itself tells what is wrong.
    return undefined;
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

async function exitCodeOf(words: readonly string[], error: unknown): Promise<number> {
  // The reader of our output closed the pipe on purpose, as head does.
  if (errorCode(error) === 'EPIPE') return EXIT.done;
  const shown =
    error instanceof CommanderError ? await usageErrorOf(buildProgram(), words, error) : outputError(error);
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
