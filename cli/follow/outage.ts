// Tells on stderr that a server does not respond, and that it does again: once each, however long it takes.
import { note } from '../terminal/streams.ts';
import { noteWait, type Wait } from '../terminal/wait-reasons.ts';

/** The notes of a command that waits for its server as long as it takes. */
export class OutageNotes {
  #isOut = false;
  #isLimited = false;

  /** Takes each wait of the client. */
  readonly onWait = (wait: Wait): void => {
    if (wait.reason === 'rate limit') {
      if (!this.#isLimited) noteWait(wait);
      this.#isLimited = true;
    } else if (!this.#isOut) {
      this.#isOut = true;
      note(
        `crm: the server ${wait.reason === 'connection' ? 'does not respond' : 'returned an error'}; trying again`,
      );
    }
  };

  /** Takes each response. */
  readonly onResponse = (): void => {
    if (this.#isOut) note('crm: the server is responding again');
    this.#isOut = false;
    this.#isLimited = false;
  };
}
