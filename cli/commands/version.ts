// `crm version`: prints which build this is, and its components.
import type { Command } from 'commander';
import type { GlobalOptions } from '../settings/config.ts';
import { environment } from '../settings/environment.ts';
import { writeOut } from '../terminal/streams.ts';
import { COMMIT, VERSION, versionLine } from '../version.ts';

interface Options extends GlobalOptions {
  licenses?: boolean;
  sbom?: boolean;
}

/** Adds `crm version`. */
export function registerVersionCommand(program: Command): void {
  program
    .command('version')
    .summary('Print version, commit and Bun version')
    .description('Print version, commit and Bun version')
    .option('--licenses', 'Print the components of this executable and their licenses')
    .option('--sbom', 'Print the components as a software bill of materials (CycloneDX 1.6, JSON)')
    .addHelpText('after', '\nExamples:\n  crm version\n  crm version --licenses')
    .action(async (_options: unknown, command: Command) => {
      // Not resolveConfig: the version must print even if the profile file is broken.
      const options: Options = command.optsWithGlobals();
      if (options.licenses || options.sbom) {
        const { billOfMaterials, licencesText } = await import('../release/components.ts');
        const text = options.sbom ? `${JSON.stringify(billOfMaterials(), null, 2)}\n` : licencesText();
        return writeOut(text);
      }
      const output = options.output ?? environment('CRM_OUTPUT');
      const isJson = output === 'json' || output === 'ndjson';
      const record = { version: VERSION, commit: COMMIT, bun: Bun.version };
      await writeOut(`${isJson ? JSON.stringify(record) : versionLine()}\n`);
    });
}
