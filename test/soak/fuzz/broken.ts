// What is no HTTP, or two kinds of it at once: bad lines, lengths that contradict each other, halves, several in a row.
import fc from 'fast-check';

/** Bytes, and what may come of them. */
export interface Broken {
  name: string;
  bytes: Uint8Array;
  /** How many requests a server may see in them, most of all. */
  requests: number;
  /** Cut off after so many milliseconds; null to wait for an answer or the end of the connection. */
  abandonAfter: number | null;
}

const CREATE = '/api/v2/contacts';
const BODY = '{"first_name":"Broken"}';
// What is hidden in the body of another request, and must never be carried out.
export const HIDDEN = 'Smuggled';
const HIDDEN_BODY = `{"first_name":"${HIDDEN}"}`;

/** Everything of the kind, with a key that lets it in. */
export function brokenRequests(key: string): fc.Arbitrary<Broken> {
  const host = 'Host: fuzz.test\r\n';
  const auth = `X-Service-Api-Key: ${key}\r\n`;
  const post = (headers: string, body: string) =>
    `POST ${CREATE} HTTP/1.1\r\n${host}${auth}${headers}\r\n${body}`;
  const hidden = `POST ${CREATE} HTTP/1.1\r\n${host}${auth}Content-Length: ${HIDDEN_BODY.length}\r\n\r\n${HIDDEN_BODY}`;
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const length = `Content-Length: ${BODY.length}\r\n`;
  const one = (name: string, text: string, requests = 1) => ({ name, text, requests });

  const LINES = [
    'GET',
    'GET /',
    `GET ${CREATE}`,
    `GET ${CREATE} HTTP/0.9`,
    `GET ${CREATE} HTTP/1.0`,
    `GET ${CREATE} HTTP/2.0`,
    `GET ${CREATE} HTTP/9.9`,
    `GET ${CREATE} HTTP/1.1 more`,
    `get ${CREATE} HTTP/1.1`,
    `GET  ${CREATE}  HTTP/1.1`,
    `GET\t${CREATE}\tHTTP/1.1`,
    ` GET ${CREATE} HTTP/1.1`,
    `G@T ${CREATE} HTTP/1.1`,
    `${'M'.repeat(5_000)} / HTTP/1.1`,
    `GET http://fuzz.test${CREATE} HTTP/1.1`,
    'GET http:// HTTP/1.1',
    'CONNECT fuzz.test:443 HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'TRACE / HTTP/1.1',
    'PRI * HTTP/2.0',
    `GET ${CREATE}\x00 HTTP/1.1`,
    `GET ${CREATE}\xff\xfe HTTP/1.1`,
    `GET ${CREATE}?${'a'.repeat(70_000)} HTTP/1.1`,
    `GET /${'../'.repeat(2_000)} HTTP/1.1`,
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ];
  const HEADERS = [
    'No colon',
    ': no name',
    'Space : before',
    'Fold: a\r\n b',
    'Nul: \x00',
    'Bell: \x07',
    'Bare: a\rb',
    `Long: ${'v'.repeat(100_000)}`,
    Array.from({ length: 300 }, (_, index) => `N${index}: v`).join('\r\n'),
    'Host: other.test',
    'Connection: close, keep-alive, X-Service-Api-Key',
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eHg=\r\nSec-WebSocket-Version: 13',
    'Transfer-Encoding: identity',
    'Keep-Alive: timeout=-1',
    'X-Service-Api-Key: other',
  ];
  const LENGTHS = [
    '-1',
    '+5',
    '5abc',
    '0x10',
    '1e3',
    ' ',
    '99999999999999999999999',
    '9007199254740993',
    '5, 5',
    '5 5',
  ];
  const CHUNKS = ['zz\r\n', '-1\r\n', 'ffffffffffffffffff\r\n', '5\r\nabc', '3;ext="\r\nabc\r\n0\r\n\r\n'];
  const TWO_LENGTHS = [
    `${length}Content-Length: ${BODY.length + hidden.length}\r\n`,
    `Content-Length: ${BODY.length + hidden.length}\r\n${length}`,
    `${length}Transfer-Encoding: chunked\r\n`,
    `Transfer-Encoding: chunked\r\n${length}`,
    `${length}Transfer-Encoding: xchunked\r\n`,
    `${length}Transfer-Encoding : chunked\r\n`,
    `${length}Transfer-Encoding: chunked, identity\r\n`,
    `${length}Transfer-Encoding:\x0bchunked\r\n`,
    `${length}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n`,
    `${length}X: x\nTransfer-Encoding: chunked\r\n`,
  ];
  const cases = [
    ...LINES.map((line) => one('request line', `${line}\r\n${host}${auth}\r\n`)),
    ...HEADERS.map((header) => one('header', post(`${header}\r\n${length}`, BODY))),
    ...LENGTHS.map((value) => one('length', post(`Content-Length: ${value}\r\n`, BODY))),
    ...CHUNKS.map((text) => one('chunks', post('Transfer-Encoding: chunked\r\n', text))),
    // The second request lies where the body ends by one reading and not by the other: it is carried out by none.
    ...TWO_LENGTHS.map((headers) => one('two lengths', post(headers, `0\r\n\r\n${hidden}`))),
    ...TWO_LENGTHS.map((headers) => one('two lengths', post(headers, `${chunk(BODY + hidden)}0\r\n\r\n`))),
    one('in chunks', post('Transfer-Encoding: chunked\r\n', `${chunk(BODY)}0\r\n\r\n`)),
    // What Bun's parser reads after the last chunk is to it the next request.
    one('trailer', post('Transfer-Encoding: chunked\r\n', `${chunk(BODY)}0\r\nTrailer: x\r\n\r\n`), 2),
    one('no host', `GET ${CREATE} HTTP/1.1\r\n${auth}\r\n`),
    one('bare newlines', `GET ${CREATE} HTTP/1.1\n${host}${auth}\n`),
    one('three in a row', `GET ${CREATE}?limit=1 HTTP/1.1\r\n${host}${auth}\r\n`.repeat(3), 3),
    one('many in a row', post(length, BODY).repeat(20), 20),
    one('one and a half', `${post(length, BODY)}GET ${CREATE} HT`, 1),
  ];
  const half = fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 30 })).map(([at, ms]): Broken => {
    const whole = Buffer.from(post('Content-Length: 400\r\n', BODY.padEnd(400)), 'latin1');
    return { name: 'half', bytes: whole.subarray(0, at), requests: 1, abandonAfter: ms };
  });
  const noise = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes): Broken => {
    return {
      name: 'noise',
      bytes: Buffer.concat([bytes, Buffer.from('\r\n\r\n')]),
      requests: 3,
      abandonAfter: 15,
    };
  });
  const made = fc.constantFrom(...cases).map(({ name, text, requests }): Broken => {
    return { name, bytes: Buffer.from(text, 'latin1'), requests, abandonAfter: 40 };
  });
  return fc.oneof(
    { weight: 6, arbitrary: made },
    { weight: 2, arbitrary: half },
    { weight: 1, arbitrary: noise },
  );
}
