// Waits of a thread for changes, in the thread that commits them.
import type { ChangeSignals } from '../../db/engine/change-signals.ts';
import type { Channel, Handler } from './channel.ts';

/** What a thread can ask or tell the writing thread about its waits. */
export type WaitKind = 'wait' | 'endWait';

interface ForwardedWait {
  /** Unique over all threads. */
  id: string;
  orgNumber: number;
  after: number;
}

/** Waits in the thread at the other end. */
export function remoteSignals(channel: Pick<Channel<WaitKind>, 'ask' | 'tell'>): ChangeSignals {
  return {
    wait: async (orgNumber, after, signal) => {
      if (signal.aborted) return;
      const id = crypto.randomUUID();
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = () => {
        channel.tell('endWait', id);
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
      try {
        const waiting = channel.ask('wait', JSON.stringify({ id, orgNumber, after } satisfies ForwardedWait));
        await Promise.race([waiting, promise]);
      } finally {
        signal.removeEventListener('abort', end);
      }
    },
  };
}

/** Waits on the signals of this thread for other threads. */
export function waitHandlers(signals: ChangeSignals): Record<WaitKind, Handler> {
  const waiting = new Map<string, AbortController>();
  return {
    wait: async (text) => {
      const { id, orgNumber, after } = JSON.parse(text) as ForwardedWait;
      const ending = new AbortController();
      waiting.set(id, ending);
      try {
        await signals.wait(orgNumber, after, ending.signal);
      } finally {
        waiting.delete(id);
      }
    },
    endWait: (id) => waiting.get(id)?.abort(),
  };
}
