// Recognizes files that are not text, and explains how to convert them.
import { extname, parse } from 'node:path';
import { CliError } from '../errors.ts';
import { shellWord } from '../terminal/text.ts';
import { inputName } from './files.ts';

interface Kind {
  readonly name: string;
  nextSteps(file: string): string[];
}

const spreadsheet = (name: string): Kind => ({
  name,
  nextSteps: (file) => [
    'save the sheet as "CSV UTF-8" (File > Save As in Excel, Download in a browser), and import that file.',
    `or: soffice --headless --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76' ${shellWord(file)}`,
  ],
});

const WORKBOOK = spreadsheet('an Excel workbook (.xlsx)');
const OPEN_DOCUMENT = spreadsheet('an OpenDocument spreadsheet (.ods)');
const OLD_WORKBOOK = spreadsheet('an old Excel workbook (.xls)');
const ARCHIVE: Kind = {
  name: 'a zip archive',
  nextSteps: (file) => [`unpack it: unzip ${shellWord(file)}`],
};
const GZIP: Kind = {
  name: 'compressed with gzip',
  nextSteps: (file) => [`unpack it: gunzip --keep ${shellWord(file)}`],
};
const OUTLOOK_DATA: Kind = {
  name: 'an Outlook data file (.pst)',
  nextSteps: () => ['in Outlook: File > Open & Export > Import/Export > Export to a file > CSV.'],
};
const PDF: Kind = { name: 'a PDF', nextSteps: () => ['export the records as CSV instead.'] };

const SIGNATURES: readonly (readonly [bytes: string, kind: (begin: string, name: string) => Kind])[] = [
  ['PK\x03\x04', zipKind],
  ['\xd0\xcf\x11\xe0', () => OLD_WORKBOOK],
  ['\x1f\x8b', () => GZIP],
  ['!BDN', () => OUTLOOK_DATA],
  ['%PDF-', () => PDF],
];

/** Throws a CliError if the first bytes of a file show that it is not text. */
export function refuseBinary(begin: Uint8Array, name: string): void {
  const bytes = Buffer.from(begin).toString('latin1');
  const found = SIGNATURES.find(([signature]) => bytes.startsWith(signature));
  if (found === undefined) return;
  const kind = found[1](bytes, name);
  const file = name === inputName('-') ? 'FILE' : name;
  throw new CliError(`${name} is ${kind.name}, which cannot be imported.`, {
    nextSteps: kind.nextSteps(file),
  });
}

// An archive starts with the name of its first member; a spreadsheet may have any extension.
function zipKind(begin: string, name: string): Kind {
  const extension = extname(parse(name).base).toLowerCase();
  if (begin.includes('opendocument.spreadsheet') || extension === '.ods') return OPEN_DOCUMENT;
  if (/\[Content_Types\]|xl\/|_rels\//.test(begin) || /^\.xls[xmb]$/.test(extension)) return WORKBOOK;
  return ARCHIVE;
}
