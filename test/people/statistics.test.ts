// Values that PostgreSQL's statistics keep of the last rows of a table: gone after an erasure, or listed with what removes them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';

const EMAIL = 'era.sed@mail.example';
const LONG = 300_000;

describe.skipIf(!isPostgres)('the last rows of a person', () => {
  let sandbox: Sandbox;
  let sql: SQL;
  beforeAll(async () => {
    sandbox = await Sandbox.withDatabase();
    await sandbox.serveOrganization('Era');
    sql = new SQL(sandbox.database, { max: 1 });
  }, LONG);
  afterAll(async () => {
    await sql?.close();
    await sandbox?.[Symbol.asyncDispose]();
  });

  const makePerson = async () => {
    const emails = [`email=${EMAIL}`, 'alt_emails=era@mail.example'];
    await sandbox.ok(['create', 'contacts', ...emails, 'first_name=Era']);
    const other = await sandbox.ok(['create', 'contacts', 'email=other@mail.example', '-o', 'ndjson']);
    for (const title of ['N', 'M'])
      await sandbox.ok([
        'create',
        'notes',
        `title=${title}`,
        `content=${title} ${EMAIL.replace('@', '\\u0040')}.`,
      ]);
    // Indexed by an expression where it is not null; as a text that is only an address, it becomes null.
    const { id } = JSON.parse(await sandbox.ok(['create', 'contacts', 'first_name=Bob', '-o', 'ndjson']));
    const email = ['type=EMAIL', 'direction=INBOUND', 'title=I', `main_contact=${id}`];
    for (const primary of [[`primary_id=${EMAIL}`], ['primary_id=era@mail.example'], []])
      await sandbox.ok(['create', 'interactions', ...email, ...primary]);
    // A sample has no values of a single row.
    await sql`analyze`;
    await sandbox.ok(['delete', 'contacts', JSON.parse(other).id, '--yes']);
  };
  const erase = () => sandbox.crm(['people', 'erase', EMAIL, '--org', 'Era', '--confirm', '-o', 'json']);
  const keeping = async () =>
    (
      await sql`select tablename || '.' || attname as place from pg_stats where schemaname = current_schema()
        and concat(most_common_vals::text, histogram_bounds::text) ~* 'era.sed'`
    ).map(({ place }: { place: string }) => place);
  const shape = async () => [
    await sql`select table_name, column_name, data_type, collation_name, is_nullable from information_schema.columns
      where table_schema = current_schema() order by 1, 2`,
    await sql`select indexdef from pg_indexes where schemaname = current_schema() order by 1`,
  ];

  test(
    'leave the statistics of tables and indexes, which stay as they are',
    async () => {
      await makePerson();
      for (const place of ['contact_emails.email_key', 'interactions_primary_id_type.coalesce'])
        expect(await keeping()).toContain(place);
      const before = await shape();
      const { code, stdout } = await erase();
      expect([code, JSON.parse(stdout).left]).toEqual([0, []]);
      expect(await keeping()).toEqual([]);
      expect(await shape()).toEqual(before);
    },
    LONG,
  );

  test(
    'are listed with the statement that removes them, where a view needs the column as it is',
    async () => {
      await makePerson();
      await sql`create view of_others as select email_key from contact_emails`;
      await sql`delete from contact_emails where email_key <> ${EMAIL}`;
      const { code, stdout, stderr } = await erase();
      expect([code, JSON.parse(stdout).left]).toEqual([
        1,
        [{ kind: 'statistics', table: 'contact_emails', column: 'email_key', is_stale: true }],
      ]);
      const [statement = ''] = /DELETE FROM pg_statistic .*regclass/.exec(stderr) ?? [];
      expect(stderr).not.toContain('heck the rows that are left');
      await sql.unsafe(statement);
      expect((await erase()).code).toBe(0);
    },
    LONG,
  );
});
