// Text that is longer than the screen, in a pager: as git and man do it.
import { onInterrupt } from './interrupt.ts';
import { stdout, writeOut } from './streams.ts';
import { terminalWidth } from './wrap.ts';

const BY_DEFAULT = 'less -R';
const NOT_FOUND = 127;

/** Writes text to stdout; if that is a terminal too small for it, through the pager that PAGER names, else less. */
export async function writePaged(text: string, { isPagerWanted = true } = {}): Promise<void> {
  const pager = isPagerWanted && isLongerThanScreen(text) ? pagerCommand() : '';
  if (pager === '' || !(await readIn(pager, text))) await writeOut(text);
}

function isLongerThanScreen(text: string): boolean {
  const { rows } = stdout;
  if (!rows || process.env.TERM === 'dumb') return false;
  const columns = terminalWidth(stdout);
  const heights = text.split('\n').map((line) => Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)));
  // The last line break ends a line and begins none; the prompt takes one.
  return heights.reduce((sum, height) => sum + height, -1) > rows - 1;
}

/** What the shell is to run; empty where PAGER is, or where there is no pager. */
function pagerCommand(): string {
  const { PAGER = Bun.which('less') === null ? '' : BY_DEFAULT } = process.env;
  return PAGER.trim();
}

/** Whether there was such a pager, once its reader has left it. */
async function readIn(pager: string, text: string): Promise<boolean> {
  // Ctrl-C is the pager's business while it runs.
  const release = onInterrupt(() => {});
  try {
    const shell = process.platform === 'win32' ? ['cmd', '/c', pager] : ['sh', '-c', pager];
    const child = Bun.spawn(shell, {
      stdin: new Blob([text]),
      stdout: 'inherit',
      stderr: 'inherit',
      env: { LESS: 'FRX', LV: '-c', ...process.env },
    });
    return (await child.exited) !== NOT_FOUND;
  } catch {
    return false;
  } finally {
    release();
  }
}
