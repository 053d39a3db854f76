// `crm top`: shows what a server is doing, live.
import type { Command } from 'commander';
import { lazyAction } from '../settings/lazy-action.ts';

const EXAMPLES = `
Examples:
  crm serve --metrics-port 9464
  crm top
  crm top --metrics-url http://10.0.0.7:9464/metrics

Keys: s sorts routes by rate, latency or errors, q quits. No API key is needed. See "crm help metrics".`;

/** Adds `crm top`. */
export function registerTopCommand(program: Command): void {
  program
    .command('top')
    .summary('Show rates, latencies and limits of a server, live')
    .description(
      'Show rates, latencies and limits of a server on a terminal, live, from its metrics (crm serve --metrics-port)',
    )
    .option('--metrics-url <url>', 'Metrics of the server (default: port 9464 of the host of --url)')
    .addHelpText('after', EXAMPLES)
    .action(lazyAction(async () => (await import('../top/run.ts')).runTop));
}
