// Converts vCard 2.1, which Outlook and Android still write, to 3.0: names parameters, decodes quoted-printable.
import { decoderOf, isEncoding } from './decode.ts';

const ENCODINGS = ['QUOTED-PRINTABLE', 'BASE64', '7BIT', '8BIT'];

/** Converts a card from version 2.1 to 3.0; returns other versions unchanged. */
export function modernVCard(text: string): string {
  if (!/^VERSION:2\.1\s*$/im.test(text)) return text;
  return unfolded(text)
    .map((line) => (/^VERSION:/i.test(line) ? 'VERSION:3.0' : modernLine(line)))
    .join('\r\n');
}

function unfolded(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split('\r\n')) {
    const before = lines.at(-1);
    const isSoftBreak = before !== undefined && /^[^:]*QUOTED-PRINTABLE[^:]*:.*=$/is.test(before);
    if (isSoftBreak) lines[lines.length - 1] = before.slice(0, -1) + line;
    else if (before !== undefined && /^[ \t]/.test(line)) lines[lines.length - 1] = before + line.slice(1);
    else lines.push(line);
  }
  return lines;
}

function modernLine(line: string): string {
  const colon = line.indexOf(':');
  if (colon === -1 || /^(?:BEGIN|END):/i.test(line)) return line;
  const [name = '', ...parameters] = line.slice(0, colon).split(';');
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
  const escaped = value.replaceAll(',', '\\,').replace(/\r\n|\r|\n/g, '\\n');
  return `${[name, ...kept].join(';')}:${escaped}`;
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
