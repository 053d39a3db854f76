// Combines identical questions: those asked while one is being answered share the next answer, so none gets an old answer.

interface Waiting<Q, A> {
  question: Q;
  resolve: (answer: A) => void;
  reject: (error: unknown) => void;
}

export class Coalescer<Q, A> {
  readonly #answer: (questions: readonly Q[]) => Promise<readonly A[]>;
  readonly #waiting = new Map<string, Waiting<Q, A>[]>();

  /** @param answer answers questions of one name, in order */
  constructor(answer: (questions: readonly Q[]) => Promise<readonly A[]>) {
    this.#answer = answer;
  }

  /** The answer to a question, together with waiting ones of the same name. */
  ask(name: string, question: Q): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    const one = { question, resolve, reject };
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) this.#drain(name, [one]);
    else waiting.push(one);
    return promise;
  }

  async #drain(name: string, waiting: Waiting<Q, A>[]): Promise<void> {
    this.#waiting.set(name, waiting);
    while (waiting.length > 0) await this.#answerAll(waiting.splice(0));
    this.#waiting.delete(name);
  }

  async #answerAll(group: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await this.#answer(group.map(({ question }) => question));
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as A);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
