// The command line under the name that people type, so that messages name it so too.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND } from './command.ts';

/** Makes a folder with `crm` in it; gives the PATH on which it is found first. */
export function pathWithCrm(folder: string): string {
  const [executable = '', ...more] = COMMAND;
  const command = join(folder, 'crm');
  mkdirSync(folder);
  if (more.length === 0) symlinkSync(executable, command);
  else writeFileSync(command, `#!/bin/sh\nexec '${COMMAND.join("' '")}' "$@"\n`, { mode: 0o755 });
  return `${folder}:${process.env.PATH ?? ''}`;
}
