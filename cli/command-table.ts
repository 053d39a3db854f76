// Every command in its group, with the function that adds it.
import type { Command } from 'commander';
import { registerApiCommand } from './commands/api.ts';
import { registerAuditCommand } from './commands/audit.ts';
import { registerBackupCommand } from './commands/backup.ts';
import { registerBrowseCommand } from './commands/browse.ts';
import { registerCompletionCommand } from './commands/completion.ts';
import { registerCountCommand } from './commands/count.ts';
import { registerCreateCommand } from './commands/create.ts';
import { registerDeleteCommand } from './commands/delete.ts';
import { registerDoctorCommand } from './commands/doctor.ts';
import { registerExportCommand } from './commands/export.ts';
import { registerGetCommand } from './commands/get.ts';
import { registerHealthCommand } from './commands/health.ts';
import { registerHelpCommand } from './commands/help.ts';
import { registerHistoryCommand } from './commands/history.ts';
import { registerImportCommand } from './commands/import.ts';
import { registerIngestCommand } from './commands/ingest.ts';
import { registerInitCommand } from './commands/init.ts';
import { registerKeysCommand } from './commands/keys.ts';
import { registerLinkCommand, registerUnlinkCommand } from './commands/link.ts';
import { registerListCommand } from './commands/list.ts';
import { registerListenCommand } from './commands/listen.ts';
import { registerManCommand } from './commands/man.ts';
import { registerMcpCommand } from './commands/mcp.ts';
import { registerMigrateCommand } from './commands/migrate.ts';
import { registerOpenCommand } from './commands/open.ts';
import { registerOpenapiCommand } from './commands/openapi.ts';
import { registerOrgsCommand } from './commands/orgs.ts';
import { registerPeopleCommand } from './commands/people.ts';
import { registerProfileCommand } from './commands/profile.ts';
import { registerQuickstartCommand } from './commands/quickstart.ts';
import { registerRecipeCommand } from './commands/recipe.ts';
import { registerReportCommand } from './commands/report.ts';
import { registerRestoreCommand } from './commands/restore.ts';
import { registerSearchCommand } from './commands/search.ts';
import { registerSecretsCommand } from './commands/secrets.ts';
import { registerServeCommand } from './commands/serve.ts';
import { registerTimelineCommand } from './commands/timeline.ts';
import { registerTopCommand } from './commands/top.ts';
import { registerUndeleteCommand } from './commands/undelete.ts';
import { registerUpdateCommand } from './commands/update.ts';
import { registerUpsertCommand } from './commands/upsert.ts';
import { registerUsersCommand } from './commands/users.ts';
import { registerVersionCommand } from './commands/version.ts';
import { registerWatchCommand } from './commands/watch.ts';
import { registerWebhooksCommand } from './commands/webhooks.ts';

type Register = (program: Command) => void;

// By the headings of the help, in its order.
const GROUPS: Readonly<Record<string, Readonly<Record<string, Register>>>> = {
  'Operator commands (work on the database directly):': {
    serve: registerServeCommand,
    init: registerInitCommand,
    orgs: registerOrgsCommand,
    users: registerUsersCommand,
    keys: registerKeysCommand,
    secrets: registerSecretsCommand,
    audit: registerAuditCommand,
    ingest: registerIngestCommand,
    migrate: registerMigrateCommand,
    people: registerPeopleCommand,
    backup: registerBackupCommand,
    restore: registerRestoreCommand,
    doctor: registerDoctorCommand,
  },
  'Data commands (call a server over HTTP, with an API key):': {
    import: registerImportCommand,
    list: registerListCommand,
    search: registerSearchCommand,
    count: registerCountCommand,
    get: registerGetCommand,
    create: registerCreateCommand,
    update: registerUpdateCommand,
    upsert: registerUpsertCommand,
    delete: registerDeleteCommand,
    undelete: registerUndeleteCommand,
    link: registerLinkCommand,
    unlink: registerUnlinkCommand,
    export: registerExportCommand,
    browse: registerBrowseCommand,
    history: registerHistoryCommand,
    timeline: registerTimelineCommand,
    watch: registerWatchCommand,
    top: registerTopCommand,
    webhooks: registerWebhooksCommand,
    listen: registerListenCommand,
    report: registerReportCommand,
    api: registerApiCommand,
    mcp: registerMcpCommand,
  },
  'Try it out:': {
    quickstart: registerQuickstartCommand,
  },
  'About crm:': {
    profile: registerProfileCommand,
    open: registerOpenCommand,
    openapi: registerOpenapiCommand,
    completion: registerCompletionCommand,
    recipe: registerRecipeCommand,
    health: registerHealthCommand,
    version: registerVersionCommand,
    help: registerHelpCommand,
    man: registerManCommand,
  },
};

// They print something about every command.
const NEED_ALL = ['help', 'man'];

/** The names of all commands, in the order of the help. */
export const COMMAND_NAMES: readonly string[] = Object.values(GROUPS).flatMap((group) => Object.keys(group));

/**
 * Adds the commands to the program. Adding all of them takes 8 ms, a third of the time of a short command.
 * @param only the command that was typed, which is added alone unless it needs the others, or there is none of that name
 */
export function registerCommands(program: Command, only?: string): void {
  const isAlone = only !== undefined && COMMAND_NAMES.includes(only) && !NEED_ALL.includes(only);
  for (const [heading, group] of Object.entries(GROUPS)) {
    program.commandsGroup(heading);
    for (const [name, register] of Object.entries(group)) if (!isAlone || name === only) register(program);
  }
}
