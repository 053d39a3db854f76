// `bun run build`: builds the executable for this machine, dist/crm.
import { compileExecutable } from './compile.ts';

if (import.meta.main) {
  const fault = compileExecutable({ outfile: 'dist/crm' });
  if (fault !== null) process.stderr.write(`${fault}\n`);
  process.exit(fault === null ? 0 : 1);
}
