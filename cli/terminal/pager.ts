// Output that is longer than the screen, in a pager: as git and man do it.
import { onInterrupt } from './interrupt.ts';
import { notesBy, stdout, writeForPeople, writeOut } from './streams.ts';
import { terminalWidth } from './wrap.ts';

const BY_DEFAULT = 'less -R';

/** What takes text for stdout piece by piece. */
export interface Output {
  write(text: string): Promise<void>;
  /** Resolves once the reader has seen it. */
  end(): Promise<void>;
}

interface PagerSettings {
  isPagerWanted?: boolean;
}

// What has to be shown, and ended, before an error is told.
let latest: PagedOutput | undefined;

/** Writes text to stdout; if that is a terminal too small for it, through the pager that PAGER names, else less. */
export async function writePaged(text: string, settings: PagerSettings = {}): Promise<void> {
  const output = pagedOutput(settings);
  await output.write(text);
  await output.end();
}

/** The same for text that comes piece by piece: the pager starts once the screen is full. */
export function pagedOutput({ isPagerWanted = true }: PagerSettings = {}): Output {
  const pager = isPagerWanted && stdout.rows && process.env.TERM !== 'dumb' ? pagerCommand() : '';
  if (pager === '') return { write: writeOut, end: async () => {} };
  latest = new PagedOutput(pager);
  return latest;
}

/** Shows what was written before a command failed, and waits until its reader has seen it. */
export async function endPager(): Promise<void> {
  await latest?.end().catch(() => {});
}

class PagedOutput implements Output {
  readonly #pager: string;
  #held = '';
  #reader: { child: Bun.Subprocess<'pipe', 'inherit', 'inherit'>; release: () => void } | undefined;

  constructor(pager: string) {
    this.#pager = pager;
  }

  async write(text: string): Promise<void> {
    this.#held += text;
    if (this.#reader === undefined && !isLongerThanScreen(this.#held)) return;
    this.#reader ??= this.#start();
    const { stdin } = this.#reader.child;
    const piece = this.#take();
    stdin.write(piece);
    await stdin.flush();
  }

  async end(): Promise<void> {
    if (this.#reader === undefined) return writeOut(this.#take());
    const { child, release } = this.#reader;
    this.#reader = undefined;
    try {
      await child.stdin.end();
    } catch {
      // Its reader has seen enough.
    }
    await child.exited;
    release();
  }

  #take(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }

  #start() {
    // Ctrl-C is the pager's business while it runs, and notes would break its picture.
    const hear = onInterrupt(() => {});
    const notes: string[] = [];
    const tell = notesBy((text) => notes.push(text));
    const shell = process.platform === 'win32' ? ['cmd', '/c', this.#pager] : ['sh', '-c', this.#pager];
    const child = Bun.spawn(shell, {
      ...({ stdin: 'pipe', stdout: 'inherit', stderr: 'inherit' } as const),
      env: { LESS: 'FRX', LV: '-c', ...process.env },
    });
    const release = () => {
      hear();
      tell();
      for (const text of notes.splice(0)) writeForPeople(text);
    };
    return { child, release };
  }
}

function isLongerThanScreen(text: string): boolean {
  const rows = stdout.rows ?? Number.POSITIVE_INFINITY;
  const columns = terminalWidth(stdout);
  const heights = text.split('\n').map((line) => Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)));
  // The last line break ends a line and begins none; the prompt takes one.
  return heights.reduce((sum, height) => sum + height, -1) > rows - 1;
}

/** What the shell is to run; empty where PAGER is, or where there is no such pager. */
function pagerCommand(): string {
  const pager = (process.env.PAGER ?? BY_DEFAULT).trim();
  const [program = ''] = pager.split(/\s+/);
  // What sets variables first is left to the shell.
  return /^[\w./-]+$/.test(program) && Bun.which(program) === null ? '' : pager;
}
