// Carries out `crm watch`: prints the changes, or runs a command for each.
import { connect } from '../api/connect.ts';
import { resourceNamed } from '../api/target.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { jsonText } from '../terminal/output.ts';
import { note, stderr, stdout, writeForPeople, writeOut, writeValues } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import type { FeedChange } from './change.ts';
import { changeLine } from './change-line.ts';
import { execFor } from './exec.ts';
import { type ChangePage, explainFeedError, followFeed, positionAt } from './feed.ts';
import { Names } from './names.ts';
import { OutageNotes } from './outage.ts';
import { CursorFile, type FeedPosition } from './position.ts';
import { feedStart } from './since.ts';
import { Stop } from './stop.ts';

export interface WatchFlags {
  since?: string;
  exec?: string;
  cursorFile?: string;
}

/** Follows the changes of the resources, of all if none is named, until it is stopped. */
export async function runWatch(names: string[], flags: WatchFlags, config: Config): Promise<void> {
  const resources = [...new Set(names.map((name) => resourceNamed(name).name))];
  const start = feedStart(flags.since ?? 'now', Date.now());
  if (config.output === 'csv' && flags.exec === undefined)
    throw usageError('"crm watch" does not print CSV.', 'use -o table, json or ndjson.');
  const file = flags.cursorFile === undefined ? null : CursorFile.open(flags.cursorFile, resources);
  try {
    await new Watch(resources, flags, config, file).run(start);
  } finally {
    file?.close();
  }
}

class Watch {
  readonly #resources: readonly string[];
  readonly #command: string | null;
  readonly #config: Config;
  readonly #file: CursorFile | null;

  constructor(resources: readonly string[], { exec }: WatchFlags, config: Config, file: CursorFile | null) {
    this.#resources = resources;
    this.#command = exec ?? null;
    this.#config = config;
    this.#file = file;
  }

  async run(start: string): Promise<void> {
    const found = this.#file?.read();
    const position = found ?? positionAt(start);
    // A time that is counted back from now would be a later one in the next run.
    if (found === undefined && start !== 'now') this.#file?.save(position);
    const outage = new OutageNotes();
    const client = await connect(this.#config, outage.onWait);
    using stop = new Stop(this.#command === null);
    let isGreeted = false;
    const onResponse = () => {
      outage.onResponse();
      if (!isGreeted) note(this.#greeting(found !== undefined));
      isGreeted = true;
    };
    const options = { resources: this.#resources, position, signal: stop.signal, onResponse };
    const names = new Names(client, stop.signal);
    try {
      for await (const page of followFeed(client, options)) {
        const isPrinted = this.#command === null;
        const done = await (isPrinted ? this.#print(page, names) : this.#runAll(page, names, stop));
        if (done !== undefined) this.#file?.save(done);
        if (stop.isRequested) break;
      }
    } catch (error) {
      if (!stop.isRequested) throw explainFeedError(error, this.#file?.path ?? null);
    }
    process.exitCode = stop.exitCode;
  }

  #greeting(isResumed: boolean): string {
    const what = this.#resources.length === 0 ? 'changes' : `changes of ${this.#resources.join(', ')}`;
    const place = isResumed ? `, continuing from ${this.#file?.path}` : '';
    return `crm: following ${what}${place}; Ctrl-C ends`;
  }

  async #print({ changes, end }: ChangePage, names: Names): Promise<FeedPosition> {
    const { output } = this.#config;
    if (output === 'table') await writeOut(await this.#lines(changes, names, stdout));
    else
      await writeValues(
        changes.map((change) => `${jsonText(change, output === 'json' ? 2 : undefined)}\n`).join(''),
      );
    return end;
  }

  /** Runs the command for each change, and notes down each success; undefined if it was stopped before the first one. */
  async #runAll(
    { changes, after, end }: ChangePage,
    names: Names,
    stop: Stop,
  ): Promise<FeedPosition | undefined> {
    let done: FeedPosition | undefined;
    for (const change of changes) {
      if (stop.isRequested) return done;
      if (stderr.isTTY) writeForPeople(await this.#lines([change], names, stderr));
      await execFor(change, this.#command ?? '', stop, this.#file?.path ?? null);
      done = after(change);
      this.#file?.save(done);
    }
    return end;
  }

  async #lines(changes: readonly FeedChange[], names: Names, stream: typeof stdout): Promise<string> {
    await names.learn(changes);
    const { isColored } = this.#config;
    const columns = terminalWidth(stream);
    const layout = { columns, isColored, nowMs: Date.now(), hasShortIds: stream.isTTY };
    return changes.map((change) => changeLine(change, names, layout)).join('');
  }
}
