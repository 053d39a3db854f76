// How long a client waits for an answer.

// A soak measures waits. In the suite a process may get a twentieth of a core: what never comes is a fault, not what is late.

const IN_THE_SUITE = 5;

/** Milliseconds that a client waits, of those that it waits where the machine has nothing else to do. */
export function patienceMs(ms: number): number {
  return process.env.NODE_ENV === 'test' ? ms * IN_THE_SUITE : ms;
}
