// New certificates for the connections to come, in every thread that listens, without losing one.
import { type Certificate, type CertificateFiles, type Listening, readCertificate } from './listener.ts';
import { type Steering, takeOver } from './reuseport-steering.ts';

const RETIREMENT_MS = 2_000;

export class Renewal {
  readonly #files: CertificateFiles | undefined;
  readonly #listeners: readonly Listening[];
  #retirement: Promise<void> = Promise.resolve();
  #isOver = false;

  /** @param files undefined where no HTTPS is served @param listeners all that listen on the port */
  constructor(files: CertificateFiles | undefined, listeners: readonly Listening[]) {
    this.#files = files;
    this.#listeners = listeners;
  }

  /**
   * Reads certificate and key anew for the connections to come; those that are open keep theirs, and end with their next
   * answer. False where no HTTPS is served, or no longer.
   * @throws the reason why they cannot be used; what was served before goes on being served
   */
  async reopen(): Promise<boolean> {
    if (this.#files === undefined || this.#isOver) return false;
    // One at a time: of listeners of three ages on a port the newest would not be known by their place.
    let former: Promise<void>;
    do {
      former = this.#retirement;
      await former;
    } while (former !== this.#retirement);
    const opening = this.#renewAll(readCertificate(this.#files));
    this.#retirement = opening.then(
      (steering) => this.#retire(steering),
      () => undefined,
    );
    await opening;
    return true;
  }

  /** Has no listener opened any more, as no connections are to come. */
  end(): void {
    this.#isOver = true;
  }

  #renewAll(certificate: Certificate): Promise<Steering | null> {
    const count = this.#listeners.length;
    return takeOver({ older: count, newer: count }, () => this.#all((one) => one.renew(certificate)));
  }

  async #retire(steering: Steering | null): Promise<void> {
    if (steering !== null) {
      await this.#all((one) => one.endFormer());
      await Bun.sleep(RETIREMENT_MS);
      steering.narrow();
    }
    await this.#all((one) => one.closeFormer());
  }

  async #all(step: (listener: Listening) => unknown): Promise<void> {
    await Promise.all(this.#listeners.map(step));
  }
}
