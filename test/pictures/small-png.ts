// Makes a PNG small: text on a page has hundreds of colours in its smooth edges, and a few dozen look the same.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const CHANNELS: Record<number, number> = { 2: 3, 6: 4 };
const INDEXED = 3;
const BITS = 8;

interface Pixels {
  width: number;
  height: number;
  /** Red, green and blue of each, one after the other. */
  rgb: Uint8Array;
}

/** The same picture in that many colours at most (256). */
export function withFewColors(png: Uint8Array, colors: number): Uint8Array {
  const { width, height, rgb } = read(png);
  const palette = paletteOf(rgb, colors);
  const known = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const color = colorAt(rgb, pixel);
    let index = known.get(color);
    if (index === undefined) {
      index = nearest(palette, color);
      known.set(color, index);
    }
    // Each row begins with the number of its filter, which is 0 for none.
    rows[Math.floor(pixel / width) * (width + 1) + 1 + (pixel % width)] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([BITS, INDEXED], 8);
  const plte = Buffer.from(palette.flatMap(channelsOf));
  const data = deflateSync(rows, { level: 9 });
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', plte),
    chunk('IDAT', data),
    chunk('IEND', Buffer.of()),
  ];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

const channelsOf = (color: number): number[] => [color >> 16, (color >> 8) & 0xff, color & 0xff];

function colorAt(rgb: Uint8Array, pixel: number): number {
  const [red = 0, green = 0, blue = 0] = rgb.subarray(pixel * 3, pixel * 3 + 3);
  return (red << 16) | (green << 8) | blue;
}

/** The colours that most pixels have. */
function paletteOf(rgb: Uint8Array, colors: number): number[] {
  const counts = new Map<number, number>();
  for (let pixel = 0; pixel < rgb.length / 3; pixel++) {
    const color = colorAt(rgb, pixel);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, colors)
    .map(([color]) => color);
}

function nearest(palette: readonly number[], color: number): number {
  const wanted = channelsOf(color);
  const distances = palette.map((one) =>
    channelsOf(one).reduce((sum, channel, index) => sum + (channel - (wanted[index] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function read(png: Uint8Array): Pixels {
  const bytes = Buffer.from(png);
  const data: Buffer[] = [];
  let [width, height, type] = [0, 0, 0];
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'IHDR')
      [width, height, type] = [content.readUInt32BE(0), content.readUInt32BE(4), content[9] ?? 0];
    if (name === 'IDAT') data.push(content);
    at += length + 12;
  }
  const channels = CHANNELS[type];
  if (channels === undefined) throw new Error(`a PNG of colour type ${type} is not read`);
  const plain = unfiltered(inflateSync(Buffer.concat(data)), width * channels, channels);
  const rgb = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++)
    rgb.set(plain.subarray(pixel * channels, pixel * channels + 3), pixel * 3);
  return { width, height, rgb };
}

/** Takes the filters of the rows away (PNG, section 9). */
function unfiltered(filtered: Uint8Array, rowBytes: number, channels: number): Uint8Array {
  const rows = filtered.length / (rowBytes + 1);
  const plain = new Uint8Array(rows * rowBytes);
  for (let row = 0; row < rows; row++) {
    const filter = filtered[row * (rowBytes + 1)] ?? 0;
    for (let index = 0; index < rowBytes; index++) {
      const at = row * rowBytes + index;
      const left = index < channels ? 0 : (plain[at - channels] ?? 0);
      const above = row === 0 ? 0 : (plain[at - rowBytes] ?? 0);
      const corner = row === 0 || index < channels ? 0 : (plain[at - rowBytes - channels] ?? 0);
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      plain[at] = (filtered[row * (rowBytes + 1) + 1 + index] ?? 0) + predicted;
    }
  }
  return plain;
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const distances = [left, above, corner].map((value) => Math.abs(estimate - value));
  return [left, above, corner][distances.indexOf(Math.min(...distances))] ?? 0;
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
