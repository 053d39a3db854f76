// Links to transcripts: the signed token is the only credential, gives access to one transcript, and lasts five minutes.
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { Access } from '../access.ts';
import { ApiError } from '../errors.ts';
import type { Admission } from '../operation.ts';
import type { MinuteLimit } from '../pipeline/minute-limit.ts';
import { Signer, type Signing } from '../signing/signing.ts';

/** How long a link is valid, in seconds. */
export const LINK_LIFETIME_SECONDS = 300;
/** Downloads per token and minute. */
export const DOWNLOADS_PER_MINUTE = 60;
export const TRANSCRIPT_PATH = '/api/v2/transcripts/download';

const SIGNATURE_BYTES = 32;
const NOBODY: Omit<Access, 'orgNumber' | 'keyId'> = {
  keyNumber: 0,
  organizationId: null,
  level: 'organization',
  userId: null,
  scopes: new Set(),
  bodyBytesMax: null,
  requestsPerMinute: { key: null, organization: null },
};

export class TranscriptLinks {
  readonly #signing: Signing;
  readonly #signer: Signer;
  readonly #downloads: MinuteLimit;

  /** @param downloads counts the downloads of each token */
  constructor(signing: Signing, downloads: MinuteLimit) {
    this.#signing = signing;
    this.#signer = new Signer(signing, 'transcript', SIGNATURE_BYTES);
    this.#downloads = downloads;
  }

  /** A new link to a recording's transcript. `now` is in Unix milliseconds. */
  issue(baseUrl: string, recording: { orgNumber: number; id: string }, now: number): Eventually<string> {
    const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url');
    const expires = now + LINK_LIFETIME_SECONDS * 1_000;
    const payload = Buffer.from([recording.orgNumber, recording.id, expires, nonce].join(' '));
    return andThen(this.#signing.refresh(), () => {
      const token = Buffer.concat([this.#signer.sign([payload]), payload]).toString('base64url');
      return `${baseUrl}${TRANSCRIPT_PATH}?token=${token}`;
    });
  }

  /**
   * Admits a download and counts it. `now` is in Unix milliseconds.
   * @throws ApiError 404 if the link is not valid, 429 if it was used too often in this minute
   */
  async admit(request: Request, now: number): Promise<Admission> {
    // Credentials are checked before validation, so any problem with the token returns 404.
    const [token = '', ...more] = new URL(request.url).searchParams.getAll('token');
    if (more.length > 0) throw linkNotFound();
    const { orgNumber } = await this.open(token, now);
    // By hash, because the name can be stored.
    const name = Bun.SHA256.hash(token, 'base64url');
    const usedUp = `This link has reached its limit of ${DOWNLOADS_PER_MINUTE} downloads per minute`;
    const { headers, uncount } = await this.#downloads.count(name, usedUp);
    // All downloads of an organization share the budget of one key.
    return { access: { ...NOBODY, orgNumber, keyId: `transcripts of ${orgNumber}` }, headers, uncount };
  }

  /**
   * The recording whose transcript a token gives access to. `now` is in Unix milliseconds.
   * @throws ApiError 404 if the token was altered or has expired
   */
  async open(token: string, now: number): Promise<{ orgNumber: number; id: string }> {
    await this.#signing.refresh();
    const bytes = Buffer.from(token, 'base64url');
    const payload = bytes.subarray(SIGNATURE_BYTES);
    if (payload.length === 0 || bytes.toString('base64url') !== token) throw linkNotFound();
    if (!this.#signer.isGenuine(bytes.subarray(0, SIGNATURE_BYTES), [payload], now)) throw linkNotFound();
    const [orgNumber, id = '', expires = '0'] = payload.toString().split(' ');
    if (Number(expires) <= now) throw linkNotFound();
    return { orgNumber: Number(orgNumber), id };
  }
}

/** The 404 of a link that has expired or was never valid. */
export function linkNotFound(): ApiError {
  const message = 'This transcript link is not valid or has expired; get the recording again for a new one.';
  return new ApiError('RESOURCE_NOT_FOUND', message);
}
