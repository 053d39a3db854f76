// `crm mcp`: gives AI assistants tools to read, and if allowed write, records.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const EXAMPLES = `
Examples:
  crm mcp --print-config
  crm mcp --api-key-file ~/.config/crm/mcp.key
  crm mcp --write --profile work

See "crm help mcp".`;

/** Adds `crm mcp`. */
export function registerMcpCommand(program: Command): void {
  program
    .command('mcp')
    .summary('Give an AI assistant access to records')
    .description(
      'Run a Model Context Protocol (MCP) server on stdin and stdout; AI clients start it. It can do what its API key can, and only reads unless you allow more.',
    )
    .option('--write', 'Also offer tools that create and change records')
    .option('--allow-delete', 'Also offer the tool that deletes records; needs --write')
    .option('--print-config', 'Print the configuration for a client, and exit')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../mcp/run.ts')).runMcp));
}
