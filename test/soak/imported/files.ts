// Files to import whose every row says what must come of it, made of nothing but its number.

/** What must be stored under a key, or why the row is rejected. */
export interface Row {
  cells: Record<string, unknown>;
  key: string;
  /** Values of the stored record by field; null for a row that is rejected. */
  stored: Record<string, unknown> | null;
  /** The code of its rejection. */
  code: string;
}

/** A kind of file: its name, the words after `crm import`, and its rows. */
export interface Kind {
  name: string;
  resource: string;
  args: readonly string[];
  isCsv: boolean;
  /** What an import says that is run again after its end. */
  again: RegExp;
  /** How a stored record is found among the rows. */
  keyOf(record: Record<string, unknown>): string;
  row(index: number): Row;
}

/** Companies that are there before an import of deals. */
export const COMPANIES = 150;

const DONE = /was already imported/;
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 13);
const STAGES = ['Prospecting', 'Closed Won', 'Closed Lost'];

const isEvery = (index: number, step: number, at: number) => index % step === at;

/** Contacts of a CSV file: companies are made on the way, some addresses are none, and some are taken by an earlier row. */
const contacts: Kind = {
  name: 'contacts.csv',
  resource: 'contacts',
  args: ['--custom', '--create-missing'],
  isCsv: true,
  again: DONE,
  keyOf: ({ first_name: name }) => String(name),
  row: (index) => {
    const isWrong = isEvery(index, 997, 500);
    const isTaken = isEvery(index, 1_009, 700) && !isEvery(index - 350, 997, 500) && !isWrong;
    const email = `p${index}@example.com`;
    const given = isWrong ? 'nowhere' : isTaken ? `P${index - 350}@Example.com` : email;
    const company = `Maker ${index % 300}`;
    const name = `Person ${index}`;
    return {
      cells: {
        'First Name': name,
        'E-mail Address': given,
        Company: company,
        'Shoe size': String(index % 50),
      },
      key: name,
      stored: isWrong || isTaken ? null : { email, company, custom: { 'Shoe size': String(index % 50) } },
      code: isWrong ? 'VALIDATION_INVALID_FORMAT' : 'RESOURCE_CONFLICT',
    };
  },
};

/** Deals with companies and stages by name, some of which nobody knows, dates with slashes, and amounts. */
const deals: Kind = {
  name: 'deals.csv',
  resource: 'deals',
  args: [],
  isCsv: true,
  again: DONE,
  keyOf: ({ name }) => String(name),
  row: (index) => {
    const isUnknown = isEvery(index, 991, 3);
    const company = isUnknown ? 'Nobody' : `Company ${index % COMPANIES}`;
    const stage = STAGES[index % STAGES.length] ?? '';
    const date = new Date(FIRST_DAY + (index % 700) * DAY_MS);
    const slashed = `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
    const day = date.toISOString().slice(0, 10);
    const name = `Deal ${index}`;
    return {
      cells: {
        'Deal Name': name,
        Company: company,
        Stage: stage,
        'Close Date': slashed,
        Amount: `$${index}.50`,
      },
      key: name,
      stored: isUnknown ? null : { company, stage, estimated_value: index + 0.5, estimated_close_date: day },
      code: 'RESOURCE_NOT_FOUND',
    };
  },
};

/** Tasks by their IDs of another system: a tenth of the rows change the record of an earlier one. */
const upserts: Kind = {
  name: 'tasks.csv',
  resource: 'tasks',
  args: ['--external-id', 'Record ID', '--source', 'hub'],
  isCsv: true,
  again: / 0 created, [\d,]+ updated, /,
  keyOf: ({ name }) => String(name).split(',')[0] ?? '',
  row: (index) => {
    const id = String(isEvery(index, 10, 9) ? index - 7 : index);
    const key = `Task ${id}`;
    const name = `${key}, row ${index}`;
    return {
      cells: { 'Record ID': id, Name: `"${name}"`, Done: index % 3 === 0 ? 'yes' : 'no' },
      key,
      stored: { name, done: index % 3 === 0 },
      code: '',
    };
  },
};

/** Contacts of an NDJSON file, with custom values of each type; some rows are wrong. */
const typed: Kind = {
  name: 'people.ndjson',
  resource: 'contacts',
  args: [],
  isCsv: false,
  again: DONE,
  keyOf: ({ first_name: name }) => String(name),
  row: (index) => {
    const isWrong = isEvery(index, 983, 40);
    const name = `Typed ${index}`;
    const custom = { number: index / 4, yes: index % 2 === 0, text: `línea ${index}\n"two"` };
    return {
      cells: { first_name: name, last_name: 'Ünïcode', custom, ...(isWrong && { email: 'nowhere' }) },
      key: name,
      stored: isWrong ? null : { last_name: 'Ünïcode', custom },
      code: 'VALIDATION_INVALID_FORMAT',
    };
  },
};

export const KINDS: readonly Kind[] = [contacts, deals, upserts, typed];

/** Writes the file of so many rows. */
export async function writeRows(path: string, kind: Kind, count: number): Promise<void> {
  const file = Bun.file(path).writer();
  if (kind.isCsv) file.write(`${Object.keys(kind.row(0).cells).join()}\n`);
  for (let index = 0; index < count; index++) {
    const { cells } = kind.row(index);
    file.write(`${kind.isCsv ? Object.values(cells).join() : JSON.stringify(cells)}\n`);
    if (index % 10_000 === 0) await file.flush();
  }
  await file.end();
}
