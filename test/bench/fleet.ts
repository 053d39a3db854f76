// All servers of a run, filled alike: each build of crm on a database of its own, the bare ones on copies of the first.
import { bytesPerContact, type Facts } from './measurements.ts';
import type { Server } from './operation.ts';
import { residentBytes } from './process.ts';
import { type Seeds, seed } from './seed.ts';
import { type BareName, type Build, type BuildName, initialize, serveBare, serveBuild } from './servers.ts';

export interface FleetOptions {
  /** The first one is what the others are compared with. */
  binaries: readonly (readonly [name: BuildName, path: string])[];
  bare: readonly BareName[];
  contacts: number;
  /** How often each build is started to tell how long that takes. */
  starts: number;
}

/** Fills and serves databases, until it is disposed of. */
export class Fleet implements AsyncDisposable {
  readonly servers: Server[] = [];
  readonly #facts = new Map<BuildName, Facts>();

  /** Starts all servers, with their databases in an empty folder. */
  async start(folder: string, { binaries, bare, contacts, starts }: FleetOptions): Promise<void> {
    const builds: [Build, Seeds][] = [];
    for (const [name, binary] of binaries) {
      const build = initialize(name, binary, folder);
      builds.push([build, await filled(build, contacts)]);
      const bytes = bytesPerContact(build.db);
      this.#facts.set(name, { starts: [], bytesPerContact: bytes, memoryAtRest: 0, memoryAfter: 0 });
    }
    for (let count = 0; count < starts; count++) {
      for (const [build] of builds) await this.#timeStart(build);
    }
    for (const [build, seeds] of builds.slice(0, 1)) {
      for (const name of bare) this.servers.push({ ...(await serveBare(name, build)), seeds });
    }
    for (const [build, seeds] of builds) this.servers.push({ ...(await serveBuild(build)), seeds });
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
