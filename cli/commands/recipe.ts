// `crm recipe`: prints embedded files for operators, such as a systemd unit.
import type { Command } from 'commander';
import { writeOut } from '../terminal/streams.ts';

/** Adds `crm recipe`. */
export function registerRecipeCommand(program: Command): void {
  program
    .command('recipe')
    .summary('Print a file for operators, such as a systemd unit')
    .description('Print a file for operators, such as a systemd unit, or without a name the list of files')
    .argument('[name]', 'Name of the recipe')
    .addHelpText('after', '\nExamples:\n  crm recipe\n  crm recipe systemd')
    .action(async (name?: string) => {
      const { recipeNamed, recipeList } = await import('../recipes/recipes.ts');
      await writeOut(name === undefined ? recipeList() : recipeNamed(name));
    });
}
