// `crm help`: prints the manual, page by page, and the help of commands.

import type { Command } from 'commander';
import { type GlobalOptions, isColored } from '../settings/config.ts';
import { stdout } from '../terminal/streams.ts';

/** Adds `crm help`. */
export function registerHelpCommand(program: Command): void {
  program
    .helpCommand(false)
    .command('help')
    .summary('Read the manual, or show help for a command')
    .description('Print a page of the manual or the help of a command, or without a topic the list of pages')
    .argument('[topic...]', 'Topic of the manual, or a command')
    .addHelpText('after', '\nExamples:\n  crm help import\n  crm help keys issue')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const options: GlobalOptions = command.optsWithGlobals();
      const { runHelp } = await import('../manual/run.ts');
      await runHelp(program, words, {
        isPagerWanted: options.pager ?? true,
        isInColor: isColored(stdout, options.color),
      });
    });
}
