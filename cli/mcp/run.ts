// Carries out `crm mcp`: serves the tools that the flags allow, or prints how a client starts it.
import { connect } from '../api/connect.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { note } from '../terminal/streams.ts';
import { noteWait } from '../terminal/wait-reasons.ts';
import { printClientConfig } from './client-config.ts';
import { describe } from './describe.ts';
import { LOG_TOOLS } from './log-tools.ts';
import { READ_TOOLS } from './read-tools.ts';
import { serveTools } from './server.ts';
import type { Tool } from './tool.ts';
import { DELETE_TOOL, WRITE_TOOLS } from './write-tools.ts';

export interface McpFlags {
  write?: boolean;
  allowDelete?: boolean;
  printConfig?: boolean;
}

// Clients give up on a call after a minute.
const WAIT_SECONDS_MAX = 30;

/** Serves until the client ends it. */
export async function runMcp(flags: McpFlags, config: Config): Promise<void> {
  const { write = false, allowDelete = false, printConfig = false } = flags;
  if (allowDelete && !write) throw usageError('--allow-delete needs --write.', 'add --write.');
  if (printConfig) return printClientConfig({ write, allowDelete }, config);
  const client = await connect(config, noteWait, { purpose: ' mcp', waitSecondsMax: WAIT_SECONDS_MAX });
  if (process.stdin.isTTY)
    note('crm: waiting for an AI client on stdin. To set one up: crm mcp --print-config   (Ctrl-C ends)');
  await serveTools(toolsFor({ write, allowDelete }), whyUnknown, client);
}

/** The tools that flags allow. */
export function toolsFor({ write = false, allowDelete = false }: McpFlags): Tool[] {
  return [
    ...READ_TOOLS,
    describe,
    ...(write ? [...WRITE_TOOLS, ...LOG_TOOLS] : []),
    ...(allowDelete ? [DELETE_TOOL] : []),
  ];
}

function whyUnknown(name: string): string {
  if (name === DELETE_TOOL.name) return `Tool ${name} is off: crm mcp was started without --allow-delete`;
  const isOff = [...WRITE_TOOLS, ...LOG_TOOLS].some((tool) => tool.name === name);
  return isOff ? `Tool ${name} is off: crm mcp was started without --write` : `Unknown tool ${name}`;
}
