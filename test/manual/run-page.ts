// Runs a page as its reader would: its blocks in order, in one shell and an empty folder, with crm on the PATH.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY } from '../support/command.ts';
import { freePort } from '../support/ports.ts';
import { SPARINGLY } from '../support/sparingly.ts';
import { until } from '../support/until.ts';
import { type Document, type Fence, fencesOf, ROOT, topicOf } from './documents.ts';
import { ANY_LINES, difference, renewed } from './masks.ts';

const BEFORE = join(import.meta.dir, 'before');
const READER_PORT = '4000';
const RUN_SECONDS_MAX = 280;
const START_SECONDS_MAX = 120;
// Has pages say what commands print now, to be looked through; not where lines are left out.
const IS_RENEWED = process.env.RENEW_PAGES === '1';
// Between the output of one block and that of the next.
const MARK = '\u001e';

/** What a page finds, beside `crm` on its PATH. */
export interface Preparation {
  /** A database with an organization and a user, a server of it, and a key in the environment. */
  hasServer: boolean;
  /** Folders that come before those of the PATH. */
  path?: readonly string[];
  /** More variables. */
  env?: Readonly<Record<string, string>>;
  /** Ports that the page names, and those that stand for them here. */
  ports?: Readonly<Record<string, string>>;
}

/** A block that is run, with what the page says that it prints. */
export interface Block {
  fence: Fence;
  output: Fence | undefined;
}

/** The blocks of a document that are run. Throws for an `output` that belongs to none, and for words it does not know. */
export function blocksOf(document: Document): Block[] {
  const fences = fencesOf(document);
  const isRun = ({ language, words }: Fence) => language === 'sh' && words.length === 0;
  for (const [index, fence] of fences.entries()) {
    const where = `${document.path}:${fence.line}`;
    const before = fences[index - 1];
    if (fence.language === 'output' && (before === undefined || !isRun(before)))
      throw new Error(`${where}: this output follows no block that is run`);
    if (fence.language === '') throw new Error(`${where}: this fence names no language`);
    if (fence.words.some((word) => word !== 'norun') || (fence.words.length > 0 && fence.language !== 'sh'))
      throw new Error(`${where}: "${fence.words.join(' ')}" is not known`);
  }
  return fences.flatMap((fence, index) => {
    const next = fences[index + 1];
    return isRun(fence) ? [{ fence, output: next?.language === 'output' ? next : undefined }] : [];
  });
}

/** Runs a page; throws with all that was not as the page says. */
export async function runPage(document: Document, preparation: Preparation): Promise<void> {
  const blocks = blocksOf(document);
  if (blocks.length === 0) return;
  await using place = await PagePlace.make(preparation, blocks);
  const { code, printed } = await place.run(blocks, join(BEFORE, `${topicOf(document)}.sh`));
  const faults: string[] = [];
  const lines = document.text.split('\n');
  // From the last on, so that the places of those before stay.
  for (const [index, { fence, output }] of [...blocks.entries()].toReversed()) {
    const where = `${document.path}:${fence.line}`;
    const isLast = index === printed.length - 1;
    const told = printed[index];
    if (told === undefined) continue;
    if (code !== 0 && isLast) faults.push(`${where}: this block ended with ${code}:\n${fence.text}\n${told}`);
    else if (output !== undefined) {
      const different = difference(output.text, told);
      if (different === null) continue;
      faults.unshift(`${where}: ${fence.text}\n${different}`);
      if (!output.text.split('\n').includes(ANY_LINES)) renew(lines, output, told);
    }
  }
  const path = join(ROOT, document.path);
  if (IS_RENEWED && existsSync(path)) writeFileSync(path, lines.join('\n'));
  if (printed.length === 0)
    faults.push(`${document.path}: what comes before it ended with ${code}:\n${place.prelude}`);
  if (faults.length > 0) throw new Error(faults.join('\n\n'));
}

function renew(lines: string[], { indent, line, text }: Fence, told: string): void {
  const shown = renewed(text, told).split('\n').slice(0, -1);
  const count = text.split('\n').length - 1;
  lines.splice(line - 1, count, ...shown.map((one) => (one === '' ? '' : indent + one)));
}

// Ports as commands, addresses and files of settings name them.
const PORT = /(?<=(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1\]):|--(?:metrics-)?port[= ])\d{4,5}\b/g;

class PagePlace implements AsyncDisposable {
  /** What was printed before the first block. */
  prelude = '';
  readonly #root = mkdtempSync(join(tmpdir(), 'crm-manual-'));
  readonly #out = join(this.#root, 'out');
  readonly #ports: Map<string, string>;
  readonly #env: Record<string, string>;

  private constructor(preparation: Preparation, ports: Map<string, string>) {
    this.#ports = ports;
    for (const name of ['bin', 'home', 'real', 'tmp', 'work']) mkdirSync(join(this.#root, name));
    writeFileSync(join(this.#root, 'bin/crm'), this.#wrapper());
    chmodSync(join(this.#root, 'bin/crm'), 0o755);
    symlinkSync(BINARY, join(this.#root, 'real/crm'));
    this.#env = {
      PATH: [join(this.#root, 'bin'), ...(preparation.path ?? []), process.env.PATH ?? ''].join(':'),
      ...{ HOME: join(this.#root, 'home'), TMPDIR: join(this.#root, 'tmp') },
      ...{ LANG: 'C.UTF-8', TZ: 'UTC', COLUMNS: '100', NO_COLOR: '1' },
      CRM_URL: `http://127.0.0.1:${this.#ownPort(READER_PORT)}`,
      ...SPARINGLY,
      ...preparation.env,
    };
  }

  static async make(preparation: Preparation, blocks: readonly Block[]): Promise<PagePlace> {
    const named = blocks.flatMap(({ fence }) => fence.text.match(PORT) ?? []);
    const ports = new Map(Object.entries(preparation.ports ?? {}));
    for (const port of [READER_PORT, ...named])
      if (!ports.has(port)) ports.set(port, String(await freePort()));
    const place = new PagePlace(preparation, ports);
    if (preparation.hasServer) await place.#serve();
    return place;
  }

  /** Runs the blocks; what each printed, up to the one that failed. */
  async run(blocks: readonly Block[], before: string): Promise<{ code: number; printed: string[] }> {
    const script = join(this.#root, 'page.sh');
    const lines = [
      ...['set -eo pipefail', `exec > '${this.#out}' 2>&1 < /dev/null`, UNTIL_READY, untilSaid(this.#out)],
      ...(existsSync(before) ? [`source '${before}'`] : []),
      ...blocks.map(({ fence }) => `printf '${MARK}'\n${this.#asRun(fence.text)}`),
    ];
    writeFileSync(script, `${lines.join('\n')}\n`);
    const child = Bun.spawn(['bash', script], {
      ...{ cwd: join(this.#root, 'work'), env: this.#env, timeout: RUN_SECONDS_MAX * 1_000 },
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    });
    const code = await child.exited;
    const said = blocks.at(-1)?.output?.text ?? '';
    const isWhole = () => {
      const told = this.#printed()[blocks.length - 1] ?? '';
      return linesIn(told) >= linesIn(said) || difference(said, told) === null;
    };
    // A server that is left running may say the rest a moment later; what never comes is a difference.
    if (code === 0) await until(isWhole).catch(() => undefined);
    return { code, printed: this.#printed() };
  }

  /** What each block has printed by now. */
  #printed(): string[] {
    const [prelude = '', ...printed] = readFileSync(this.#out, 'utf8').split(MARK);
    this.prelude = prelude;
    return printed.map((text) => this.#asRead(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endAll();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #serve(): Promise<void> {
    const crm = join(this.#root, 'bin/crm');
    const options = { cwd: join(this.#root, 'work'), env: this.#env, stdin: 'ignore' } as const;
    const init = Bun.spawn([crm, 'init', '--org', 'Acme Inc', '--user', 'ada@acme.example'], {
      ...{ ...options, stdout: 'pipe', stderr: 'ignore' },
    });
    this.#env.CRM_API_KEY = (await init.stdout.text()).trim();
    const log = Bun.file(join(this.#root, 'server.log'));
    const child = Bun.spawn([crm, 'serve', '--log', 'off'], { ...options, stdout: log, stderr: log });
    this.#env.SERVER_PID = String(child.pid);
    for (let tries = 0; !(await isReady(this.#env.CRM_URL ?? '')); tries += 1) {
      if (tries > START_SECONDS_MAX * 20) throw new Error(`no server: ${await log.text()}`);
      await Bun.sleep(50);
    }
  }

  // Under the name that a reader types, and by which crm finds itself too. What goes to the screen there goes to a file
  // here, and is a table all the same; and the port that is the default is another.
  #wrapper(): string {
    return `#!/bin/bash
if [ /dev/fd/1 -ef '${this.#out}' ]; then export CRM_OUTPUT="\${CRM_OUTPUT:-table}"; fi
case " $* " in
  *' help '* | *' --help '* | *' --port'*) ;;
  *' serve '*) set -- "$@" --port ${this.#ownPort(READER_PORT)} ;;
esac
PATH='${join(this.#root, 'real')}':$PATH exec -a crm '${BINARY}' "$@"
`;
  }

  #ownPort(port: string): string {
    return this.#ports.get(port) ?? port;
  }

  /** A block with the ports of this run, which waits for each server that it starts. */
  #asRun(text: string): string {
    return text
      .replace(PORT, (port) => this.#ownPort(port))
      .replace(/^[^\n#]*\bcrm (?:[^\n]*\\\n)*[^\n]*\bserve\b(?:[^\n]*\\\n)*[^\n]*&[ \t]*$/gm, (command) => {
        const port = /--port[= ](\d+)/.exec(command)?.[1] ?? this.#ownPort(READER_PORT);
        const isHeard = !command.includes('2>');
        return `${command}\nuntil_ready ${port}${isHeard ? `\nuntil_said ${port}` : ''}`;
      });
  }

  /** What was printed, with the ports of the page. */
  #asRead(text: string): string {
    let read = text;
    for (const [port, own] of this.#ports) read = read.replace(new RegExp(`\\b${own}\\b`, 'g'), port);
    return read;
  }

  // Whatever a page has left running has the folder, or one in it, as its own.
  async #endAll(): Promise<void> {
    const isOurs = (pid: string) => folderOf(pid)?.startsWith(this.#root) ?? false;
    for (let tries = 0; tries < 100; tries += 1) {
      const left = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name));
      if (left.length === 0) return;
      for (const pid of left) kill(Number(pid));
      await Bun.sleep(20);
    }
  }
}

const UNTIL_READY = `until_ready() {
  for _ in $(seq ${START_SECONDS_MAX * 20}); do
    for scheme in http https; do
      if curl -skf -o /dev/null "$scheme://127.0.0.1:$1/readyz"; then return; fi
    done
    sleep 0.05
  done
  echo "no server is ready on port $1"
  return 1
}`;

// It responds a moment before it says where.
const untilSaid = (out: string) => `until_said() {
  until grep -q "^Docs .*:$1/docs" '${out}'; do sleep 0.05; done
}`;

const linesIn = (text: string) => text.split('\n').length;

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => null);
  return response?.ok ?? false;
}

function folderOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
