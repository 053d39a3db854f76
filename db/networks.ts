// Networks as people write them: an address, and how many of its leading bits count.
import { isIP } from 'node:net';

export interface Network {
  address: string;
  /** Leading bits that an address has in common with it. */
  prefix: number;
}

type Family = 4 | 6;
const BITS: Readonly<Record<Family, number>> = { 4: 32, 6: 128 };
/** What the addresses of IPv4 begin with where they are written as IPv6, and how long that is. */
const MAPPED = { start: 0xffffn, bits: 96 };

/** Reads `10.0.0.0/8`, `fd00::/8`, or a single address; undefined if the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const prefix = bits === undefined ? BITS[family] : Number(bits);
  return prefix <= BITS[family] ? { address, prefix } : undefined;
}

/**
 * The one way to write a network: without bits beyond its prefix, IPv4 as IPv4, a single address alone. The text that
 * was given says the same where nothing is beyond the prefix.
 */
export function networkText({ address, prefix }: Network): string {
  const family = familyOf(address) ?? 4;
  const bits = bitsOf(address, family);
  if (family === 6 && prefix >= MAPPED.bits && bits >> 32n === MAPPED.start)
    return written(bits & 0xffff_ffffn, 4, prefix - MAPPED.bits);
  return written(bits, family, prefix);
}

/** An address in the same way; as it is where it is none. */
export function addressText(address: string): string {
  const network = parseNetwork(address.replace(/%.*$/, ''));
  return network === undefined ? address : networkText(network);
}

/** Whether a network has bits beyond its prefix, so that it is not clear whether it or its one address is meant. */
export function hasHostBits({ address, prefix }: Network): boolean {
  const family = familyOf(address) ?? 4;
  const rest = BigInt(BITS[family] - prefix);
  return (bitsOf(address, family) & ((1n << rest) - 1n)) !== 0n;
}

function familyOf(address: string): Family | undefined {
  const family = isIP(address);
  return family === 4 || family === 6 ? family : undefined;
}

function written(bits: bigint, family: Family, prefix: number): string {
  const rest = BigInt(BITS[family] - prefix);
  const start = (bits >> rest) << rest;
  const text =
    family === 4 ? textOf(start, 4, 8n, 10).join('.') : shortened(textOf(start, 8, 16n, 16).join(':'));
  return prefix === BITS[family] ? text : `${text}/${prefix}`;
}

function textOf(bits: bigint, count: number, size: bigint, radix: number): string[] {
  const places = Array.from({ length: count }, (_, index) => BigInt(count - 1 - index) * size);
  return places.map((place) => ((bits >> place) & ((1n << size) - 1n)).toString(radix));
}

// As RFC 5952 has it, which is what hosts of URLs come in.
function shortened(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function bitsOf(address: string, family: Family): bigint {
  if (family === 4) return joined(address.split('.'), 8n, '');
  const [start = '', end] = shortened(address).split('::');
  const [before, after] = [groups(start), groups(end ?? '')];
  const between = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return joined([...before, ...between, ...after], 16n, '0x');
}

function groups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

function joined(parts: readonly string[], size: bigint, radix: '' | '0x'): bigint {
  return parts.reduce((bits, part) => (bits << size) | BigInt(`${radix}${part}`), 0n);
}
