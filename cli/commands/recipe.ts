// `crm recipe`: prints embedded files for operators, such as a systemd unit.
import type { Command } from 'commander';
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import { writeOut } from '../terminal/streams.ts';

/** Adds `crm recipe`. */
export function registerRecipeCommand(program: Command): void {
  program
    .command('recipe')
    .summary('Print a file for operators, such as a systemd unit')
    .description('Print a file for operators, such as a systemd unit, or without a name the list of files')
    .argument('[name]', 'Name of the recipe')
    .action(async (name?: string) => writeOut(name === undefined ? await list() : await textOf(name)));
}

async function list(): Promise<string> {
  const { RECIPES } = await import('../recipes/recipes.ts');
  const width = Math.max(...Object.keys(RECIPES).map((name) => name.length));
  return Object.entries(RECIPES)
    .map(([name, { about, file }]) => `crm recipe ${name.padEnd(width)}  ${about} (${file})\n`)
    .join('');
}

async function textOf(name: string): Promise<string> {
  const { RECIPES } = await import('../recipes/recipes.ts');
  const recipe = Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined;
  if (recipe !== undefined) return recipe.text;
  const names = Object.keys(RECIPES);
  throw usageError(
    `Unknown recipe "${name}".${didYouMean(name, names)}`,
    `choose one of: ${names.join(', ')}.`,
  );
}
