// How an organization is taken out of a database, for whoever has psql: crm itself never removes one.

/**
 * The statement that removes an organization with all that belongs to it, at once, so that no row is left that refers to
 * another; it has no single quotes, which a shell has around it. Its entries in the audit log stay.
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
