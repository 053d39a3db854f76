// `crm search`: finds records of all kinds by words.
import { type Command, Option } from 'commander';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { lazyAction } from '../settings/lazy-action.ts';
import { commaList, limitOption } from '../settings/options.ts';

const EXAMPLES = `
Examples:
  crm search ada love
  crm search ada@example.com
  crm search 7946 0000 --types contacts
  crm search second engine --types deals,notes --all -o ndjson

See "crm help search".`;

/** Adds `crm search`. */
export function registerSearchCommand(program: Command): void {
  program
    .command('search')
    .summary('Find records by words')
    .description(
      'Find the records that contain all of the words, the best matches first. The last word can be the beginning of one.',
    )
    .argument('<words...>', 'Words, an email address, a domain, a phone number or an ID')
    .addOption(typesOption())
    .addOption(limitOption('records'))
    .option('--all', 'Print everything that is found')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../search/run.ts')).runSearch));
}

function typesOption(): Option {
  const option = new Option('--types <a,b>', 'Only records of these resources').argParser(commaList);
  // For completion and help; several are separated by commas, which run.ts checks.
  option.argChoices = [...SEARCHED_RESOURCES];
  return option;
}
