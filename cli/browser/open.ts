// Carries out `crm open`.
import { spawn } from 'node:child_process';

import { connect } from '../api/connect.ts';
import { wholeId } from '../api/find-id.ts';
import { resourceFor, resourcePath } from '../api/target.ts';
import { CliError, usageError } from '../errors.ts';
import { idRangeOf } from '../input/short-id.ts';
import type { Config } from '../settings/config.ts';
import { environment } from '../settings/environment.ts';
import { serverBase } from '../settings/server-url.ts';
import { note, stdout, writeOut } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

const SYSTEM_BROWSERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens the address in the browser, or prints it where there is no one to look. */
export async function runOpen(
  resource: string | undefined,
  id: string | undefined,
  { print = false }: { print?: boolean },
  config: Config,
): Promise<void> {
  const url = serverBase(config.url) + (await pathOf(resource, id, config));
  const browser = environment('BROWSER');
  if (print || (!stdout.isTTY && browser === undefined)) return writeOut(`${url}\n`);
  await show(browser === undefined ? systemBrowser() : [browser], url);
  note(`Opened ${url}`);
}

async function pathOf(resource: string | undefined, id: string | undefined, config: Config): Promise<string> {
  if (resource === undefined) return '/docs';
  const found = resourceFor(resource, 'get');
  if (id === undefined)
    throw usageError(`Which of the ${found.name}?`, `add an ID: crm open ${found.name} ID`);
  // A whole ID takes no request, and so no key.
  const whole = idRangeOf(id) === undefined ? id : await wholeId(await connect(config), found.name, id);
  return resourcePath(found, whole);
}

function systemBrowser(): readonly string[] {
  return SYSTEM_BROWSERS[process.platform] ?? ['xdg-open'];
}

// Without a shell, so that nothing in the address is a command.
function show([command = '', ...words]: readonly string[], url: string): Promise<void> {
  const failed = (why: string) =>
    new CliError(`Cannot open the browser with ${shellWord(command)}: ${why}.`, {
      nextSteps: [`open it yourself: ${url}`, 'or set BROWSER to the command of your browser.'],
    });
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
    child.once('error', () => reject(failed('there is no such command')));
    child.once('exit', (code) => (code === 0 ? resolve() : reject(failed(`it ended with ${code}`))));
    // A browser that stays in the foreground has opened the page.
    child.once('spawn', () => setTimeout(() => resolve(child.unref()), 1_500));
  });
}
