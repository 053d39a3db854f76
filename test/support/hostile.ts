// Texts that are made to cost time: one piece over and over, between what makes a step begin and what makes it fail.

/** A text of about so many characters. */
export interface HostileText {
  name: string;
  make: (size: number) => string;
}

const SIGNS = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'];
const OTHERS = [
  'a',
  'A',
  '1',
  ' ',
  '\t',
  '\n',
  '\r',
  'é',
  '\u0301',
  'İ',
  '😀',
  '\ud800',
  '\0',
  '\\"',
  '\\u0061',
  '""',
];

/** One unit repeated: each sign, and each piece of the example, alone and with what stands beside it. */
export function unitsOf(example: string): string[] {
  const pieces = example.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu) ?? [];
  const pairs = pieces.map((piece, index) => piece + (pieces[index + 1] ?? ''));
  return [...new Set([...SIGNS, ...OTHERS, ...pieces, ...pairs])];
}

/**
 * Texts for what takes values such as the example.
 * @param fails what no such value ends with, where "!" is a part of values
 */
export function hostileTexts(example: string, fails = '!'): HostileText[] {
  // What ends well, and what fails at its very end: an expression that can be read in several ways is tried in all.
  const around = [
    ['', ''],
    ['', fails],
    [example, fails],
    [example, `\n${fails}`],
  ] as const;
  return unitsOf(example).flatMap((unit) =>
    around.map(([before, after]) => ({
      name: [before, `${unit} repeated`, after].map((one) => JSON.stringify(one)).join(' '),
      make: (size: number) => before + repeated(unit, size) + after,
    })),
  );
}

const SAMPLE_LINE = 3;

/** Files like the sample, in which one line stands over and over, or a value or parameter of a line is a hostile one. */
export function hostileFiles(sample: string, units: readonly string[]): HostileText[] {
  const lines = sample.split('\n');
  const replaced = (index: number, ...by: string[]): string =>
    [...lines.slice(0, index), ...by, ...lines.slice(index + 1)].join('\n');
  const files: HostileText[] = [
    { name: 'the whole repeated', make: (size) => repeated(sample, size) },
    ...units.map((unit) => ({
      name: `${JSON.stringify(unit)} alone`,
      make: (size: number) => repeated(unit, size),
    })),
  ];
  const seen = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const what = line.slice(0, 30);
    files.push({
      name: `${what} repeated`,
      make: (size) => replaced(index, ...Array(Math.ceil(size / (line.length + 1))).fill(line)),
    });
    files.push({
      name: `${what} repeated with numbers`,
      make: (size) =>
        replaced(index, ...Array.from({ length: Math.ceil(size / (line.length + 5)) }, (_, n) => line + n)),
    });
    const kind = line.replace(/[^A-Za-z-].*$/s, '');
    if (seen.has(kind)) continue;
    seen.add(kind);
    const value = Math.max(line.lastIndexOf(':'), line.lastIndexOf(',')) + 1;
    const parameter = Math.max(0, line.search(/[:;]/));
    const put = (at: number, what: string): string =>
      replaced(index, line.slice(0, at) + what + line.slice(at));
    // What takes lines and parameters apart is the same for all lines of a kind of file; what reads values is not.
    const isSample = seen.size === SAMPLE_LINE;
    for (const unit of isSample ? units : units.filter((one) => !/[\r\n!#$%'*?^_`|~]/.test(one))) {
      const said = JSON.stringify(unit);
      files.push({ name: `${what} with ${said}`, make: (size) => put(value, repeated(unit, size)) });
      if (isSample)
        files.push({
          name: `${what} as ${said}`,
          make: (size) => put(parameter, `;X=${repeated(unit, size)}`),
        });
    }
  }
  return files;
}

export function repeated(unit: string, size: number): string {
  return unit.repeat(Math.max(1, Math.floor(size / unit.length)));
}
