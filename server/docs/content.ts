// What the routes under /docs serve: made on first use, kept, and compressed as the client accepts.
import { promisify } from 'node:util';

type Bytes = Uint8Array<ArrayBuffer>;

// A server starts sooner if what compresses is loaded with the first page.
const ENCODERS = {
  br: async (bytes: Bytes): Promise<Bytes> => {
    const { brotliCompress, constants } = await import('node:zlib');
    const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality(bytes) };
    return new Uint8Array(await promisify(brotliCompress)(bytes, { params }));
  },
  gzip: async (bytes: Bytes): Promise<Bytes> => {
    const { gzip } = await import('node:zlib');
    return new Uint8Array(await promisify(gzip)(bytes, { level: 9 }));
  },
  identity: async (bytes: Bytes): Promise<Bytes> => bytes,
};

type Encoding = keyof typeof ENCODERS;

interface Encoded {
  /** A Blob, because a response made of bytes keeps a copy of them until its client has read it. */
  body: Blob;
  etag: string;
}

// Best first; a client that names none gets the last one.
const ENCODINGS: readonly Encoding[] = ['br', 'gzip', 'identity'];
// The best quality takes a second for a large content, and saves less than a tenth.
const LARGE_BYTES = 256 * 1024;
const QUALITY = { large: 9, small: 11 };
const encoder = new TextEncoder();

/** A text with its type, ready to be sent in every encoding. */
export class Content {
  readonly #load: () => Promise<string>;
  readonly #encoded = new Map<Encoding, Promise<Encoded>>();
  #bytes?: Promise<Bytes>;

  constructor(
    readonly type: string,
    load: () => Promise<string>,
  ) {
    this.#load = load;
  }

  /** The response to a request: 304 if the client has the content, no body for HEAD. */
  async respond(request: Request, headers: Record<string, string>): Promise<Response> {
    const encoding = encodingFor(request.headers.get('Accept-Encoding') ?? '');
    const { body, etag } = await this.#encoded.getOrInsertComputed(encoding, () => this.#encode(encoding));
    const described = { ...headers, ETag: etag, Vary: 'Accept-Encoding', 'Cache-Control': 'no-cache' };
    if (isKnown(request.headers.get('If-None-Match'), etag))
      return new Response(null, { status: 304, headers: described });
    return new Response(request.method === 'HEAD' ? null : body, {
      headers: {
        ...described,
        'Content-Type': this.type,
        'Content-Length': String(body.size),
        ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
      },
    });
  }

  async #encode(encoding: Encoding): Promise<Encoded> {
    this.#bytes ??= this.#load().then((text) => encoder.encode(text));
    const bytes = await this.#bytes;
    const body = new Blob([await ENCODERS[encoding](bytes)]);
    return { body, etag: `"${Bun.hash(bytes).toString(36)}-${encoding}"` };
  }
}

function encodingFor(accepted: string): Encoding {
  const qualities = new Map(
    accepted.split(',').map((one) => {
      const [name = '', quality = 'q=1'] = one.split(';').map((part) => part.trim());
      return [name.toLowerCase(), Number(quality.slice(2))];
    }),
  );
  return ENCODINGS.find((encoding) => (qualities.get(encoding) ?? 0) > 0) ?? 'identity';
}

// A proxy that compresses turns a tag into a weak one.
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag);
}

function brotliQuality({ length }: Bytes): number {
  return length < LARGE_BYTES ? QUALITY.small : QUALITY.large;
}
