// Another system that changes all the time: nodes with different clocks, slow transactions, many changes per instant.

/** How far the clocks of two of its nodes can differ, in milliseconds. */
const CLOCKS_DIFFER_MS = 60_000;
/** How long a transaction can take to become visible, in milliseconds. */
const COMMIT_MS = 90_000;

export type Kind = 'companies' | 'contacts';

export interface Row {
  id: string;
  updated_at: string;
  deleted: boolean;
  name: string;
  /** Of companies. */
  domain?: string | null;
  /** Of contacts. */
  email?: string | null;
  company_id?: string | null;
}

interface Transaction {
  visibleAt: number;
  rows: [Kind, Row][];
}

export class MovingSource {
  /** True time, Unix milliseconds. */
  now: number;
  /** How many records a page has. */
  pageRows = 7;
  readonly rows: Record<Kind, Map<string, Row>> = { companies: new Map(), contacts: new Map() };
  /** How often each kind of change was made. */
  readonly made: Record<string, number> = {};
  /** How many changes were made. */
  steps = 0;
  readonly #random: () => number;
  #pending: Transaction[] = [];
  #names = 0;

  constructor(now: number, random: () => number) {
    this.now = now;
    this.#random = random;
  }

  /** A whole number from 0 up to, but without, the given one. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** How many kinds of change there are. */
  get kindsOfChange(): number {
    return Object.keys(this.#changes).length;
  }

  /** Lets time pass, and shows what is committed by then. */
  pass(ms: number): void {
    this.now += ms;
    const isDue = ({ visibleAt }: Transaction) => visibleAt <= this.now;
    for (const { rows } of this.#pending.filter(isDue))
      for (const [kind, row] of rows) this.rows[kind].set(row.id, row);
    this.#pending = this.#pending.filter((one) => !isDue(one));
  }

  /** The records that are not deleted. */
  live(kind: Kind): Row[] {
    return [...this.rows[kind].values()].filter(({ deleted }) => !deleted);
  }

  /** One page of the changes since an instant, oldest first; `next` continues after its last record. */
  page(url: URL): { data: Row[]; next: string | null } {
    const kind = url.pathname.slice(1) as Kind;
    const since = url.searchParams.get('updated_since') ?? '';
    const after = url.searchParams.get('after') ?? since;
    const placeOf = ({ updated_at, id }: Row) => `${updated_at} ${id}`;
    const changed = [...this.rows[kind].values()].filter(
      (row) => row.updated_at >= since && placeOf(row) > after,
    );
    const data = changed.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).slice(0, this.pageRows);
    const last = data.at(-1);
    if (last === undefined || data.length === changed.length) return { data, next: null };
    const next = new URL(url);
    next.searchParams.set('after', placeOf(last));
    return { data, next: next.href };
  }

  /** Changes something. Changes of one transaction have one instant, as its node's clock has it, in whole seconds. */
  change(): void {
    const changes = Object.keys(this.#changes);
    const name = changes[this.below(changes.length)] ?? '';
    const rows = this.#changes[name]?.() ?? [];
    if (rows.length === 0) return;
    this.made[name] = (this.made[name] ?? 0) + 1;
    this.steps += 1;
    const clock = this.now + this.below(CLOCKS_DIFFER_MS) - CLOCKS_DIFFER_MS / 2;
    const updated_at = new Date(Math.floor(clock / 1_000) * 1_000).toISOString();
    const visibleAt = this.now + (this.below(2) === 0 ? 0 : this.below(COMMIT_MS));
    this.#pending.push({ visibleAt, rows: rows.map(([kind, row]) => [kind, { ...row, updated_at }]) });
    this.pass(0);
  }

  /** Commits everything, and corrects every value that crm refuses. */
  settle(): void {
    this.pass(COMMIT_MS);
    for (const row of this.#broken()) this.#set('contacts', { ...row, email: this.#email() });
  }

  /** Those that crm refuses and no transaction is changing. */
  #broken(): Row[] {
    const isBroken = ({ id, email }: Row) => email?.startsWith('broken') && !this.#isLocked('contacts', id);
    return this.live('contacts').filter(isBroken);
  }

  #set(kind: Kind, row: Row): void {
    this.rows[kind].set(row.id, { ...row, updated_at: new Date(this.now).toISOString() });
  }

  add(kind: Kind, row: Partial<Row> = {}): Row {
    const added = this.#new(kind, row);
    this.#set(kind, added);
    return added;
  }

  /** Changes a record at once. */
  set(kind: Kind, row: Row, fields: Partial<Row>): void {
    this.#set(kind, { ...row, ...fields });
  }

  readonly #changes: Record<string, () => [Kind, Row][]> = {
    'add a company': () => [['companies', this.#new('companies', { domain: this.#domain() })]],
    'add a company without a domain': () => [['companies', this.#new('companies', { domain: null })]],
    'add a contact': () => [
      ['contacts', this.#new('contacts', { email: this.#email(), ...this.#employer() })],
    ],
    'add a company with two contacts': () => {
      const company = this.#new('companies', { domain: this.#domain() });
      const employed = { company_id: company.id };
      return [
        ['contacts', this.#new('contacts', { ...employed, email: this.#email() })],
        ['contacts', this.#new('contacts', { ...employed, email: null })],
        ['companies', company],
      ];
    },
    rename: () => this.#pick('contacts', 1).map((row) => ['contacts', { ...row, name: this.#name() }]),
    'rename a company': () =>
      this.#pick('companies', 1).map((row) => ['companies', { ...row, name: this.#name() }]),
    'change employer': () =>
      this.#pick('contacts', 1).map((row) => ['contacts', { ...row, ...this.#employer() }]),
    'change an address': () =>
      this.#pick('contacts', 1).map((row) => ['contacts', { ...row, email: this.#email() }]),
    'drop an address': () => this.#pick('contacts', 1).map((row) => ['contacts', { ...row, email: null }]),
    'break an address': () =>
      this.#broken().length > 0 || this.below(2) === 0
        ? []
        : this.#pick('contacts', 1).map((row) => ['contacts', { ...row, email: `broken ${this.#name()}` }]),
    'correct an address': () => this.#broken().map((row) => ['contacts', { ...row, email: this.#email() }]),
    'swap addresses': () => this.#rotate('contacts', 'email', 2),
    'rotate addresses': () => this.#rotate('contacts', 'email', 4),
    'swap domains': () => this.#rotate('companies', 'domain', 2),
    'hand an address over': () => {
      const [from, to] = this.#pick('contacts', 2);
      if (from === undefined || to === undefined) return [];
      return [
        ['contacts', { ...from, email: this.below(2) === 0 ? null : this.#email() }],
        ['contacts', { ...to, email: from.email ?? null }],
      ];
    },
    'delete a contact': () => this.#pick('contacts', 1).map((row) => ['contacts', { ...row, deleted: true }]),
    'delete a company': () => this.#withoutCompany(this.#pick('companies', 1)[0]),
    'replace a contact': () =>
      this.#pick('contacts', 1).flatMap((row): [Kind, Row][] => [
        ['contacts', { ...row, deleted: true }],
        ['contacts', this.#new('contacts', { email: row.email ?? null })],
      ]),
    undelete: () => {
      const gone = [...this.rows.contacts.values()].filter(
        (row) => row.deleted && !this.#isLocked('contacts', row.id),
      );
      const row = gone[this.below(gone.length)];
      return row === undefined
        ? []
        : [['contacts', { ...row, deleted: false, email: this.#email(), company_id: null }]];
    },
  };

  // Its contacts lose their employer.
  #withoutCompany(company: Row | undefined): [Kind, Row][] {
    const pending = this.#pending.flatMap(({ rows }) => rows);
    if (company === undefined || pending.some(([, row]) => row.company_id === company.id)) return [];
    const employed = this.live('contacts').filter(({ company_id }) => company_id === company.id);
    if (employed.some(({ id }) => this.#isLocked('contacts', id))) return [];
    return [
      ['companies', { ...company, deleted: true }],
      ...employed.map((row): [Kind, Row] => ['contacts', { ...row, company_id: null }]),
    ];
  }

  #rotate(kind: Kind, field: 'email' | 'domain', count: number): [Kind, Row][] {
    const rows = this.#pick(kind, count);
    return rows.map((row, at) => [kind, { ...row, [field]: rows[(at + 1) % rows.length]?.[field] ?? null }]);
  }

  #new(kind: Kind, row: Partial<Row>): Row {
    const id = `${kind === 'companies' ? 'k' : 'p'}:${this.#next()}`;
    const own = kind === 'companies' ? { domain: null } : { email: null, company_id: null };
    return { id, updated_at: '', deleted: false, name: this.#name(), ...own, ...row };
  }

  /** Different records that no transaction is changing. */
  #pick(kind: Kind, count: number): Row[] {
    const free = this.live(kind).filter(({ id }) => !this.#isLocked(kind, id));
    const picked = new Set<Row>();
    for (let tries = 0; tries < count * 3 && picked.size < count; tries += 1) {
      const row = free[this.below(free.length)];
      if (row !== undefined) picked.add(row);
    }
    return [...picked];
  }

  #isLocked(kind: Kind, id: string): boolean {
    return this.#pending.some(({ rows }) => rows.some(([of, row]) => of === kind && row.id === id));
  }

  #employer(): { company_id: string | null } {
    return { company_id: this.#pick('companies', 1)[0]?.id ?? null };
  }

  #next(): number {
    this.#names += 1;
    return this.#names;
  }

  #name(): string {
    return `Name ${this.#next()}`;
  }

  #email(): string {
    return `Person.${this.#next()}@mail.example`;
  }

  #domain(): string {
    return `company-${this.#next()}.example`;
  }
}
