// `crm man`: prints the whole manual as one page for man(1).
import type { Command } from 'commander';
import { writeOut } from '../terminal/streams.ts';

/** Adds `crm man`. */
export function registerManCommand(program: Command): void {
  program
    .command('man')
    .summary('Print the manual as a man page')
    .description('Print all commands and the manual as one page for man(1).')
    .addHelpText('after', '\nExamples:\n  crm man > /usr/local/share/man/man1/crm.1')
    .action(async () => {
      const { manPage } = await import('../manual/man-page.ts');
      await writeOut(manPage(program));
    });
}
