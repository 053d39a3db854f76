// Converts vCards to rows: names their lines as columns, so that they are imported like any other row.
import type { JsonValue } from '../../../db/model/json.ts';
import type { TextPiece } from '../../input/json-pieces.ts';
import { type CardProperty, parseVCard } from '../../input/vcards.ts';
import type { SourceRow } from '../row.ts';

// Pictures and sounds, and how Outlook draws a card: they may be long, and need not be read at all.
const UNREAD = ['photo', 'logo', 'sound', 'key', 'x-ms-ol-design', 'x-ms-cardpicture'];
// Properties of the file format, and how Apple shows a card.
const LEFT_OUT = ['version', 'prodid', 'x-abadr', 'x-abshowas'];
const NAME_PARTS = ['Last Name', 'First Name', 'Middle Name', 'Name Prefix', 'Name Suffix'];
const NETWORKS = ['LinkedIn', 'Twitter', 'Facebook', 'Instagram'];
const TITLES: Readonly<Record<string, string>> = {
  title: 'Job Title',
  role: 'Role',
  note: 'Notes',
  bday: 'Birthday',
  nickname: 'Nickname',
  categories: 'Labels',
};
const PHONES: readonly (readonly [type: string, column: string])[] = [
  ['fax', 'Fax'],
  ['pager', 'Pager'],
  ['cell', 'Mobile Phone'],
  ['iphone', 'Mobile Phone'],
  ['work', 'Business Phone'],
  ['home', 'Home Phone'],
];

/** The row for a card; null for one that is a group of contacts, and not a contact. */
export function vCardRow({ line, text }: TextPiece): SourceRow | null {
  const card = parseVCard(text, UNREAD);
  if (typeof card === 'string') {
    const fault = { code: 'VALIDATION_INVALID_FORMAT', path: '', message: card };
    return { line, entries: [], original: text, fault };
  }
  if (isGroup(card)) return null;
  const columns = columnsOf(card);
  return { line, entries: [...columns], original: Object.fromEntries(columns), fault: null };
}

// Its members have separate cards. Apple's property is older than the standard one.
function isGroup(card: readonly CardProperty[]): boolean {
  const kinds = card.filter(({ name }) => name === 'kind' || name === 'x-addressbookserver-kind');
  return kinds.some(({ values: [kind] }) => String(kind).toLowerCase() === 'group');
}

/** The values of a card: each under a free name, without duplicates. */
function columnsOf(card: readonly CardProperty[]): Map<string, JsonValue> {
  const columns = new Map<string, JsonValue>();
  const seen = new Map<string, Set<string>>();
  const preferredFirst = card.toSorted((one, other) => Number(other.isPreferred) - Number(one.isPreferred));
  const properties = preferredFirst.filter(({ name }) => !LEFT_OUT.includes(name));
  for (const [column, value] of properties.flatMap(cellsOf)) {
    const values = seen.get(column) ?? new Set();
    if (value === '' || values.has(value)) continue;
    seen.set(column, values.add(value));
    if (values.size === 1) columns.set(column, value);
    else if (column === 'Email') columns.set('Other Emails', [...values].slice(1));
    else columns.set(`${column} ${values.size}`, value);
  }
  const fullName = columns.get('Full Name');
  const hasName = columns.has('First Name') || columns.has('Last Name');
  if (fullName !== undefined && !hasName) columns.set('First Name', fullName);
  columns.delete('Full Name');
  return columns;
}

function cellsOf(property: CardProperty): [column: string, value: string][] {
  const { name, types, values, label } = property;
  const [first = ''] = values;
  const whole = values.map((value) => joined(value, ', ')).join(', ');
  switch (name) {
    case 'n':
      return [first].flat().map((part, index) => [NAME_PARTS[index] ?? 'Name', part]);
    case 'fn':
      return [['Full Name', whole]];
    case 'email':
      return [['Email', whole.replace(/^mailto:/i, '')]];
    case 'tel':
      return [[phoneColumn(types), whole.replace(/^tel:/i, '')]];
    case 'org': {
      const [company = '', ...units] = [first].flat();
      return [
        ['Company', company],
        ['Department', joined(units, ', ')],
      ];
    }
    case 'adr': {
      const place = types.includes('work') ? 'Business ' : types.includes('home') ? 'Home ' : '';
      return [[`${place}Address`, joined(first, '\n')]];
    }
    case 'url':
    case 'socialprofile':
    case 'x-socialprofile':
      return [[networkOf(types, whole) ?? (name === 'url' ? 'Website' : 'Social Profile'), whole]];
    default:
      return [[TITLES[name] ?? `${name.toUpperCase()}${label ? ` (${label})` : ''}`, whole]];
  }
}

function phoneColumn(types: readonly string[]): string {
  return PHONES.find(([type]) => types.includes(type))?.[1] ?? 'Phone';
}

function networkOf(types: readonly string[], address: string): string | undefined {
  return NETWORKS.find((network) => {
    const name = network.toLowerCase();
    return (
      types.includes(name) || new RegExp(`^(?:https?://)?(?:[\\w-]+\\.)*${name}\\.com/`, 'i').test(address)
    );
  });
}

function joined(value: string | readonly string[], separator: string): string {
  return typeof value === 'string' ? value : value.filter((part) => part !== '').join(separator);
}
