// Backups at intervals while a server runs, each made by a process of its own, so that no request waits for it.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemFault, usageError } from '../errors.ts';
import { expiredBackups, type KeepRule } from './retention.ts';

export interface BackupPlan {
  db: string;
  /** Folder of the backups; made if it is missing. */
  folder: string;
  /** Milliseconds from one to the next. */
  every: number;
  keep: readonly KeepRule[];
}

const NAME = /^crm-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
const RETRY_MS = 60_000;
const STOP_MS_MAX = 2_000;
// Of what the command said, the reason and the first step.
const WORDS_MAX = 2;

/** Makes backups from its start until it is stopped; the first when the newest that lies there is old enough. */
export class BackupSchedule {
  readonly #plan: BackupPlan;
  #tell: (text: string) => void = () => undefined;
  #timer: Timer | undefined;
  #running: Bun.Subprocess | undefined;
  #isStopped = false;
  #figures = { succeeded: 0, failed: 0, lastMs: null as number | null, lastBytes: null as number | null };

  /** @throws CliError if the folder cannot be made */
  constructor(plan: BackupPlan) {
    this.#plan = plan;
    try {
      mkdirSync(plan.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw usageError(
        `The folder ${plan.folder} cannot be made (${systemFault(error)}).`,
        'name another with --backup-dir, or give the user who runs crm the right to make it.',
      );
    }
  }

  /** What has become of its backups so far; what is told of the last one is in milliseconds and bytes. */
  get stats() {
    return { intervalMs: this.#plan.every, ...this.#figures };
  }

  /** @param tell tells the operator of what went wrong */
  start(tell: (text: string) => void): void {
    this.#tell = tell;
    const newest = Math.max(0, ...this.#times());
    // One of the future tells of a clock that was set back.
    this.#runIn(Math.min(this.#plan.every, newest + this.#plan.every - Date.now()));
  }

  /** Makes none any more; one that is under way is given up, within 2 s. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const running = this.#running;
    if (running === undefined) return;
    running.kill('SIGINT');
    // It hears nothing while SQLite reads a large file; what it leaves behind, the next one removes.
    const killing = setTimeout(() => running.kill('SIGKILL'), STOP_MS_MAX);
    await running.exited;
    clearTimeout(killing);
  }

  #runIn(ms: number): void {
    // Longer times overflow to none; a backup may have taken longer than from one to the next.
    this.#timer = setTimeout(() => this.#run(), Math.min(Math.max(0, ms), 2 ** 31 - 1));
  }

  async #run(): Promise<void> {
    const begunAt = Date.now();
    const file = join(this.#plan.folder, nameOf(begunAt));
    const failure = await this.#backUp(file);
    if (this.#isStopped) return;
    this.#noteEnd(failure === null ? file : null, Date.now() - begunAt);
    if (failure !== null) this.#tell(`The backup failed. ${failure}`);
    else this.#thinOut();
    this.#runIn(
      failure === null ? begunAt + this.#plan.every - Date.now() : Math.min(RETRY_MS, this.#plan.every),
    );
  }

  #noteEnd(file: string | null, ms: number): void {
    const figures = this.#figures;
    figures.lastMs = ms;
    if (file === null) figures.failed += 1;
    else {
      figures.succeeded += 1;
      figures.lastBytes = statSync(file, { throwIfNoEntry: false })?.size ?? null;
    }
  }

  async #backUp(file: string): Promise<string | null> {
    const words = ['backup', file, '--quiet', '--db', this.#plan.db];
    const command = Bun.main.startsWith('/$bunfs/') ? [process.execPath] : [process.execPath, Bun.main];
    try {
      const child = Bun.spawn([...command, ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
      this.#running = child;
      const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
      return code === 0 ? null : said.trim().split('\n').slice(0, WORDS_MAX).join(' ');
    } catch (error) {
      // No process more may be started, or the executable was moved away.
      return messageOf(error);
    } finally {
      this.#running = undefined;
    }
  }

  #thinOut(): void {
    const { folder, keep } = this.#plan;
    try {
      for (const time of expiredBackups(this.#times(), Date.now(), keep)) rmSync(join(folder, nameOf(time)));
    } catch (error) {
      this.#tell(`Old backups in ${folder} cannot be removed (${systemFault(error)}).`);
    }
  }

  #times(): number[] {
    return readdirSync(this.#plan.folder).flatMap((name) => {
      const parts = NAME.exec(name);
      return parts === null
        ? []
        : [Date.parse(`${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}:${parts[5]}:${parts[6]}Z`)];
    });
  }
}

function nameOf(time: number): string {
  return `crm-${new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')}.db`;
}
