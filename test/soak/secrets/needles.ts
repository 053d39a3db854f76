// What is looked for: keys and tokens, whole and in halves, in every spelling in which they might stand somewhere.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Something that only its owner may know. */
export interface Secret {
  name: string;
  text: string;
}

/** Where a part of a secret stands. */
export interface Hit {
  secret: string;
  spelling: string;
  place: string;
}

// Of a key, its random part; of a token, its signature, which is 32 bytes.
const KEY = /^service_(?:live|api|pk)_([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/;
const SIGNATURE_CHARACTERS = 42;
const BASE64_PHASES = 3;

interface Needle {
  secret: string;
  spelling: string;
  bytes: Buffer;
}

function needlesOf({ name, text }: Secret): Needle[] {
  const random = KEY.exec(text)?.[1] ?? text.slice(0, SIGNATURE_CHARACTERS);
  const middle = Math.floor(random.length / 2);
  const parts = {
    'all of it': random,
    'its first half': random.slice(0, middle),
    'its second half': random.slice(middle),
  };
  return Object.entries(parts).flatMap(([part, value]) =>
    Object.entries(spellings(value)).map(([spelling, bytes]) => ({
      ...{ secret: name, spelling: `${part}, ${spelling}`, bytes },
    })),
  );
}

function spellings(value: string): Record<string, Buffer> {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const found: Record<string, Buffer> = {
    plain: bytes,
    'as UTF-16': Buffer.from(value, 'utf16le'),
    'in hexadecimal': Buffer.from(hex),
    'in capital hexadecimal': Buffer.from(hex.toUpperCase()),
    backwards: Buffer.from([...value].toReversed().join('')),
  };
  // Wherever in a longer text it begins; what depends on its neighbours is left out.
  for (let phase = 0; phase < BASE64_PHASES; phase++) {
    const shifted = Buffer.concat([Buffer.alloc(phase), bytes]).toString('base64');
    const own = shifted.replaceAll('=', '').slice(phase === 0 ? 0 : phase + 1, -1);
    found[`in base64 (${phase})`] = Buffer.from(own);
    found[`in base64url (${phase})`] = Buffer.from(own.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return found;
}

/** Looks for secrets in one place after another. */
export class Search {
  readonly hits: Hit[] = [];
  places = 0;
  bytes = 0;
  readonly #needles: readonly Needle[];

  constructor(secrets: readonly Secret[]) {
    this.#needles = secrets.flatMap(needlesOf);
  }

  get spellings(): number {
    return this.#needles.length;
  }

  /** Looks in some bytes. */
  in(place: string, bytes: Buffer): void {
    this.places += 1;
    this.bytes += bytes.length;
    for (const { secret, spelling, bytes: needle } of this.#needles)
      if (bytes.includes(needle)) this.hits.push({ secret, spelling, place });
  }

  /** Looks in every file of a folder and of its folders. */
  inFolder(folder: string): void {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      this.in(path.slice(folder.length + 1), readFileSync(path));
    }
  }
}
