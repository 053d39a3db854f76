// `crm openapi`: prints the description of the API, without a server.
import { type Command, Option } from 'commander';
import { writeOut } from '../terminal/streams.ts';

/** Adds `crm openapi`. */
export function registerOpenapiCommand(program: Command): void {
  program
    .command('openapi')
    .summary('Print the OpenAPI document')
    .description('Print the OpenAPI document of both API versions, or of one, as /docs/json serves it')
    .addOption(new Option('--api <version>', 'Only this API version').choices(['v1', 'v2']))
    .addHelpText('after', '\nExamples:\n  crm openapi > openapi.json\n  crm openapi --api v2')
    .action(async (options: { api?: 'v1' | 'v2' }) => {
      const { openApiDocument } = await import('../../server/openapi/document.ts');
      await writeOut(`${JSON.stringify(await openApiDocument(options), null, 2)}\n`);
    });
}
