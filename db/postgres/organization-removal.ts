// How to remove an organization from a database with psql: crm itself never removes one.

/**
 * The statement that removes an organization with all its rows at once, so that no references are left. It contains no
 * single quotes, because it is quoted with them in a shell. Its entries in the audit log stay.
 */
export function removalStatement(orgNumber: number): string {
  const rows = `where org_id = ${orgNumber}`;
  return (
    `do $$ begin execute (select $a$with $a$ || string_agg(format($a$%I as (delete from %I ${rows})$a$, table_name, ` +
    `table_name), $a$, $a$) || $a$ delete from organizations where number = ${orgNumber}$a$ ` +
    'from information_schema.columns where column_name = $a$org_id$a$ and table_schema = current_schema() ' +
    'and table_name <> $a$audit_log$a$); end $$'
  );
}
