// Renews the certificate for new connections in every listening thread, without dropping connections.
import { type Certificate, type CertificateFiles, type Listening, readCertificate } from './listener.ts';
import { type ReuseportSteering, steerToNewListeners } from './reuseport-steering.ts';

const RETIREMENT_MS = 2_000;

export class CertificateRenewal {
  readonly #files: CertificateFiles | undefined;
  readonly #listeners: readonly Listening[];
  #retirement: Promise<void> = Promise.resolve();
  #isOver = false;

  /** @param files undefined without HTTPS @param listeners everything that listens on the port */
  constructor(files: CertificateFiles | undefined, listeners: readonly Listening[]) {
    this.#files = files;
    this.#listeners = listeners;
  }

  /**
   * Reads certificate and key again for new connections; open ones keep theirs and end with their next response. False
   * without HTTPS, or after `end`.
   * @throws the reason why they cannot be used; the previous ones stay in use
   */
  async reopen(): Promise<boolean> {
    const files = this.#files;
    if (files === undefined || this.#isOver) return false;
    // One at a time: with listeners of three ages on a port, the newest could not be identified by its position.
    const opening = this.#retirement.then(() => this.#open(readCertificate(files)));
    this.#retirement = opening.then(
      (steering) => this.#retire(steering),
      () => undefined,
    );
    await opening;
    return true;
  }

  /** Stops renewals, because no more connections are accepted. */
  end(): void {
    this.#isOver = true;
  }

  #open(certificate: Certificate): Promise<ReuseportSteering | null> {
    const count = this.#listeners.length;
    return steerToNewListeners({ older: count, newer: count }, () =>
      this.#all((one) => one.renew(certificate)),
    );
  }

  async #retire(steering: ReuseportSteering | null): Promise<void> {
    if (steering !== null) {
      await this.#all((one) => one.endOldConnections());
      await Bun.sleep(RETIREMENT_MS);
      steering.narrow();
    }
    await this.#all((one) => one.closeOldListener());
  }

  async #all(step: (listener: Listening) => unknown): Promise<void> {
    await Promise.all(this.#listeners.map(step));
  }
}
