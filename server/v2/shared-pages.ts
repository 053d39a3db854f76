// Pages that several streams want at about the same time, as they do after each write: read once for all of them.

// By far enough for streams that wait for the same change.
const KEPT_MS = 100;
const BYTES_MAX = 8 * 1024 * 1024;

/** Anything of a known size. */
interface Sized {
  /** How much memory it takes, about. */
  bytes: number;
}

/** Shares what was read between those that ask for the same within a short time. */
export class SharedPages<T extends Sized> {
  readonly #pages = new Map<string, Promise<T>>();
  #bytes = 0;

  /**
   * The page of that name, read now or a moment ago.
   * @param name says everything that the page depends on, what the log contains among it
   */
  share(name: string, read: () => Promise<T>): Promise<T> {
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    const page = read();
    this.#pages.set(name, page);
    page.then(
      ({ bytes }) => this.#keep(name, bytes),
      () => this.#pages.delete(name),
    );
    return page;
  }

  #keep(name: string, bytes: number): void {
    if (this.#bytes + bytes > BYTES_MAX) {
      this.#pages.delete(name);
      return;
    }
    this.#bytes += bytes;
    setTimeout(() => {
      this.#pages.delete(name);
      this.#bytes -= bytes;
    }, KEPT_MS).unref();
  }
}
