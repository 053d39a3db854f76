// All servers of a run, filled alike: each build of crm on a database of its own, the bare ones on copies of them.
import type { Databases } from './databases.ts';
import { bytesPerContact, type Facts } from './measurements.ts';
import type { Server } from './operation.ts';
import { residentBytes } from './process.ts';
import { type Seeds, seed } from './seed.ts';
import {
  type BareName,
  type Binary,
  type Build,
  type BuildName,
  COMPARED_WITH,
  initialize,
  type Running,
  serveBare,
  serveBarePostgres,
  serveBuild,
} from './servers.ts';

export interface FleetOptions {
  binaries: readonly Binary[];
  bare: readonly BareName[];
  contacts: number;
  /** How often each build is started to tell how long that takes. */
  starts: number;
  /** Where crm-postgres and bare-postgres have theirs. */
  databases?: Databases;
}

/** Fills and serves databases, until it is disposed of. */
export class Fleet implements AsyncDisposable {
  readonly servers: Server[] = [];
  readonly #facts = new Map<BuildName, Facts>();

  /** Starts all servers, with their databases in an empty folder. */
  async start(folder: string, { binaries, bare, contacts, starts, databases }: FleetOptions): Promise<void> {
    const builds: [Build, Seeds][] = [];
    for (const binary of binaries) {
      const { name } = binary;
      const ofServer = name === 'crm-postgres' ? databases : undefined;
      const build = initialize(binary, folder, await ofServer?.create());
      builds.push([build, await filled(build, contacts)]);
      await ofServer?.settle(build.db);
      const bytes = (await ofServer?.bytesPerContact(build.db)) ?? bytesPerContact(build.db);
      this.#facts.set(name, { starts: [], bytesPerContact: bytes, memoryAtRest: 0, memoryAfter: 0 });
    }
    for (let count = 0; count < starts; count++) {
      for (const [build] of builds) await this.#timeStart(build);
    }
    const databaseCpu = await databases?.clock();
    const add = (server: Running, seeds: Seeds) =>
      this.servers.push({ ...server, seeds, ...(server.name.endsWith('-postgres') && { databaseCpu }) });
    for (const [build, seeds] of builds) {
      for (const name of bare.filter((one) => COMPARED_WITH[one] === build.name)) {
        const address = name === 'bare-postgres' ? await databases?.copy(build.db) : undefined;
        const starting = address === undefined ? serveBare(name, build) : serveBarePostgres(build, address);
        add(await starting, seeds);
      }
    }
    for (const [build, seeds] of builds) add(await serveBuild(build), seeds);
    this.#eachBuild((facts, memory) => {
      facts.memoryAtRest = memory;
    });
  }

  /** What is known of each build by now. */
  facts(): ReadonlyMap<BuildName, Facts> {
    this.#eachBuild((facts, memory) => {
      facts.memoryAfter = memory;
    });
    return this.#facts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  #eachBuild(note: (facts: Facts, memory: number) => void): void {
    for (const { name, pid } of this.servers) {
      const facts = this.#facts.get(name as BuildName);
      if (facts !== undefined) note(facts, residentBytes(pid));
    }
  }

  async #timeStart(build: Build): Promise<void> {
    const server = await serveBuild(build);
    this.#facts.get(build.name)?.starts.push(server.readyAfter);
    await server.stop();
  }
}

async function filled(build: Build, contacts: number): Promise<Seeds> {
  const server = await serveBuild(build);
  try {
    return await seed(server, contacts);
  } finally {
    await server.stop();
  }
}
