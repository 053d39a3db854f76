// What was sent and what was answered, word for word, except what no two services have in common: ids, cursors, signatures.
import type { Harness, Reply, RequestInput, Send } from './harness.ts';

// What is made by chance, or counted over all tests; each stands in a transcript as its place in the order of appearance.
const MADE_BY_CHANCE = [
  /(?<=[?&]cursor=|"end_cursor":")[\w.%-]+/,
  /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/,
  /req_[\w-]{20,}/,
  /whsec_[\w+/=]+/,
  /(?<=\/transcripts\/download\?)[^"]+/,
  /(?<="etag","\\")\w+/,
  /\b(?:walk-|i(?=\d+@))\d+/,
];
// All at once: a cursor can have, by chance too, what looks like one of the others.
const ANY_OF_THEM = new RegExp(MADE_BY_CHANCE.map(({ source }) => source).join('|'), 'g');

export class Transcript {
  readonly lines: string[] = [];
  readonly #places = new Map<string, number>();

  /** The harness, whose requests and answers are kept here from now on. */
  of(harness: Harness): Harness {
    const send: Send = async (method, path, input = {}) => {
      const reply = await harness.send(method, path, input);
      this.#keep(method, path, input, reply);
      return reply;
    };
    return { ...harness, send };
  }

  #keep(method: string, path: string, input: RequestInput, { status, headers, text }: Reply): void {
    const { 'Idempotency-Key': key } = input.headers ?? {};
    const sent = [method, path, key, input.raw ?? JSON.stringify(input.body)];
    const answered = [status, JSON.stringify([...headers].toSorted()), text];
    this.lines.push(this.#inPlace(`${sent.join(' ')}\n→ ${answered.join(' ')}`));
  }

  #inPlace(text: string): string {
    return text.replaceAll(ANY_OF_THEM, (one) => this.#placeOf(one));
  }

  // A cursor is escaped in a query.
  #placeOf(one: string): string {
    const known = decodeURIComponent(one);
    const place = this.#places.get(known) ?? this.#places.size + 1;
    this.#places.set(known, place);
    return `‹${place}›`;
  }
}
