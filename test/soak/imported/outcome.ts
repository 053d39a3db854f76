// What a finished import has left behind, checked against the rows of its file.
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'csv-parse/sync';
import type { Json } from '../../support/harness.ts';
import type { Kind } from './files.ts';

// The first line of a CSV file names its columns.
const CSV_FIRST = 2;

export interface Place {
  url: string;
  key: string;
}

/** Everything that is wrong with what was stored, and with the errors file, of an import of so many rows. */
export async function faultsOf(place: Place, kind: Kind, file: string, count: number): Promise<string[]> {
  const expected = new Map<string, Json>();
  const rejected = new Map<number, string>();
  for (let index = 0; index < count; index++) {
    const { key, stored, code } = kind.row(index);
    if (stored === null) rejected.set(index + (kind.isCsv ? CSV_FIRST : 1), code);
    else expected.set(key, stored);
  }
  return [
    ...(await faultsOfRecords(place, kind, expected)),
    ...(await faultsOfErrors(`${file}.errors.${kind.isCsv ? 'csv' : 'ndjson'}`, kind, rejected)),
  ];
}

async function faultsOfRecords(place: Place, kind: Kind, expected: Map<string, Json>): Promise<string[]> {
  const faults: string[] = [];
  const nameOf = await names(place);
  const seen = new Set<string>();
  for await (const record of recordsOf(place, kind.resource)) {
    const key = kind.keyOf(record);
    const values = expected.get(key);
    const named: Json = {
      ...record,
      company: nameOf.get(record.company_id),
      stage: nameOf.get(record.stage_id),
    };
    if (seen.has(key)) faults.push(`${key} is there twice`);
    else if (values === undefined) faults.push(`${key} is of no row`);
    for (const [field, value] of Object.entries(values ?? {}))
      if (!isDeepStrictEqual(named[field], value))
        faults.push(`${key}: ${field} is ${JSON.stringify(named[field])}, not ${JSON.stringify(value)}`);
    seen.add(key);
  }
  for (const key of expected.keys()) if (!seen.has(key)) faults.push(`${key} is lost`);
  return faults;
}

// Of companies and stages, by ID; two companies of one name would be one that was created twice.
async function names(place: Place): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { id, name } of recordsOf(place, 'companies')) {
    if ([...found.values()].includes(name)) throw new Error(`the company ${name} is there twice`);
    found.set(id, name);
  }
  for await (const { stages } of recordsOf(place, 'pipelines'))
    for (const { id, name } of stages) found.set(id, name);
  return found;
}

async function faultsOfErrors(path: string, kind: Kind, rejected: Map<number, string>): Promise<string[]> {
  const file = Bun.file(path);
  if (!(await file.exists())) return rejected.size === 0 ? [] : [`there is no ${path}`];
  const text = await file.text();
  const lines: Json[] = kind.isCsv
    ? parse(text, { columns: true })
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
  const found = lines.map(({ _line, _code }) => `${_line} ${_code}`);
  const wanted = [...rejected].map(([line, code]) => `${line} ${code}`);
  if (isDeepStrictEqual(found, wanted)) return [];
  const other = found.findIndex((line, at) => line !== wanted[at]);
  return [
    `the errors file has ${found.length} rows, not ${wanted.length}; row ${other + 1} is ${found[other]}, not ${wanted[other]}`,
  ];
}

/** All records of a resource, page by page. */
async function* recordsOf({ url, key }: Place, resource: string): AsyncGenerator<Json> {
  for (let cursor = ''; ; ) {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== '' && { cursor }) });
    const headers = { 'X-Service-Api-Key': key };
    const response = await fetch(`${url}/api/v2/${resource}?${query}`, { headers });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const { data, page_info: page } = (await response.json()) as Json;
    yield* data;
    if (!page.has_next_page) return;
    cursor = page.end_cursor;
  }
}
