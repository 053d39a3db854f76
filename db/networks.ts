// Networks in CIDR notation: an address and the number of its leading bits that count.

export interface Network {
  address: string;
  /** Number of leading bits. */
  prefix: number;
}

type Family = 4 | 6;
const BITS: Readonly<Record<Family, number>> = { 4: 32, 6: 128 };
/** The first bits of an IPv4 address mapped to IPv6, and their number. */
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
 * The canonical form of a network: no bits beyond its prefix, IPv4 as IPv4, a single address without a prefix. Equal to the
 * input if that has no bits beyond the prefix.
 */
export function networkText({ address, prefix }: Network): string {
  const family = familyOf(address) ?? 4;
  const bits = bitsOf(address, family);
  if (family === 6 && prefix >= MAPPED.bits && bits >> 32n === MAPPED.start)
    return written(bits & 0xffff_ffffn, 4, prefix - MAPPED.bits);
  return written(bits, family, prefix);
}

/** The canonical form of an IP address; other text stays unchanged. */
export function addressText(address: string): string {
  const network = parseNetwork(address.replace(/%.*$/, ''));
  return network === undefined ? address : networkText(network);
}

/** The IPv4 address in the last 32 bits of an IPv6 address, where translators and mapped addresses have it. */
export function lastBitsAsIpv4(address: string): string {
  return written(bitsOf(address, 6) & 0xffff_ffffn, 4, BITS[4]);
}

/** Whether a network has bits beyond its prefix, so that it is unclear whether the network or the address is meant. */
export function hasHostBits({ address, prefix }: Network): boolean {
  const family = familyOf(address) ?? 4;
  const rest = BigInt(BITS[family] - prefix);
  return (bitsOf(address, family) & ((1n << rest) - 1n)) !== 0n;
}

// Loaded when it is needed: it takes a tenth of the time of a short command.
let net: typeof import('node:net') | undefined;

function familyOf(address: string): Family | undefined {
  net ??= process.getBuiltinModule('node:net');
  const family = net.isIP(address);
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

// As in RFC 5952, which URL hosts use.
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
