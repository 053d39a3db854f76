// Converts vCard 2.1, and lines that later versions still write like it, to 3.0: names parameters, decodes quoted-printable.
import { decoderOf, isEncoding } from './decode.ts';

const ENCODINGS = ['QUOTED-PRINTABLE', 'BASE64', '7BIT', '8BIT'];
const IS_QUOTED = /^[^:]*QUOTED-PRINTABLE[^:]*:/i;

/** The lines of a card as version 3.0 or later has them; those of properties in `leftOut` (in lower case) are removed. */
export function modernVCard(text: string, leftOut: readonly string[]): string {
  const is21 = /^VERSION:2\.1\s*$/im.test(text);
  return unfolded(text)
    .filter((line) => !leftOut.includes(nameOf(line)))
    .map((line) => (is21 && /^VERSION:/i.test(line) ? 'VERSION:3.0' : modernLine(line, is21)))
    .join('\r\n');
}

function unfolded(text: string): string[] {
  const lines: string[][] = [];
  let isQuoted = false;
  for (const line of text.split('\r\n')) {
    const parts = lines.at(-1);
    const last = parts?.at(-1);
    if (parts !== undefined && isQuoted && last?.endsWith('=')) {
      parts[parts.length - 1] = last.slice(0, -1);
      parts.push(line);
    } else if (parts !== undefined && /^[ \t]/.test(line)) parts.push(line.slice(1));
    else {
      lines.push([line]);
      isQuoted = IS_QUOTED.test(line);
    }
  }
  return lines.map((parts) => parts.join(''));
}

/** The name of a line's property in lower case, without the group. */
function nameOf(line: string): string {
  return (/^(?:[^.:;]*\.)?([^:;]*)/.exec(line)?.[1] ?? '').toLowerCase();
}

function modernLine(line: string, is21: boolean): string {
  const colon = colonOf(line);
  if (colon === -1 || /^(?:BEGIN|END):/i.test(line)) return line;
  const [name = '', ...parameters] = line.slice(0, colon).match(/(?:[^";]|"[^"]*"?)+/g) ?? [];
  const named = parameters.map((one) => {
    if (one.includes('=')) return one;
    return `${ENCODINGS.includes(one.toUpperCase()) ? 'ENCODING' : 'TYPE'}=${one}`;
  });
  const parameter = (key: string): string | undefined =>
    named.find((one) => one.toUpperCase().startsWith(`${key}=`))?.slice(key.length + 1);
  const kept = named.filter((one) => !/^(?:CHARSET|ENCODING)=/i.test(one));
  const raw = line.slice(colon + 1);
  const isQuoted = parameter('ENCODING')?.toUpperCase() === 'QUOTED-PRINTABLE';
  const value = isQuoted ? unquoted(raw, parameter('CHARSET') ?? 'utf-8') : raw;
  // In 2.1, commas do not separate lists, and only the semicolon is escaped.
  const escaped = (is21 ? value.replaceAll(',', '\\,') : value).replace(/\r\n|\r|\n/g, '\\n');
  return `${[name, ...kept].join(';')}:${escaped}`;
}

/** Where the value of a line begins: at the first colon outside quotes, if there is one. */
function colonOf(line: string): number {
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ':' && !isQuoted) return at;
  }
  return line.indexOf(':');
}

function unquoted(text: string, charset: string): string {
  const parts = text
    .split(/((?:=[0-9A-F]{2})+)/i)
    .map((part, index) =>
      index % 2 === 1 ? Buffer.from(part.replaceAll('=', ''), 'hex') : Buffer.from(part),
    );
  const bytes = Buffer.concat(parts);
  return decoderOf(isEncoding(charset) ? charset : 'utf-8').decode(bytes);
}
