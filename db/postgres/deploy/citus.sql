-- Distributes the organizations of a crm database over the nodes of a Citus cluster: all rows of an organization, in all
-- tables, are on one node. NOT TESTED ON CITUS. A test runs it on plain PostgreSQL, with functions of the same names that do
-- nothing, and checks that it lists every table and that all unique keys and foreign keys meet the requirements of Citus.
--
-- On the coordinator, as the owner of the tables, after "crm init" and with no crm serving:
--   psql -1 -v ON_ERROR_STOP=1 -f citus.sql crm
-- crm connects to the coordinator only. After an upgrade that adds tables, run the new statements of this file by hand.

-- Foreign keys are restored at the end, when both of their tables are in place.
create temporary table kept_references on commit drop as
  select conrelid::regclass::text as held_by, conname as name, pg_get_constraintdef(oid) as definition
  from pg_constraint
  where contype = 'f' and connamespace = 'public'::regnamespace;

do $$
declare kept record;
begin
  for kept in select * from kept_references loop
    execute format('alter table %s drop constraint %I', kept.held_by, kept.name);
  end loop;
end $$;

-- Read with every request or by every organization, and rarely written: a full copy on every node.
select create_reference_table('organizations');
select create_reference_table('settings');
select create_reference_table('api_keys');
select create_reference_table('api_key_secrets');

-- Distributed by organization. org_clocks has the row that an organization's writes lock.
select create_distributed_table('org_clocks', 'org_id');
select create_distributed_table('users', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('companies', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('contacts', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('contact_emails', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('pipelines', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('pipeline_stages', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('deals', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('deal_contacts', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('deal_companies', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('tasks', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('notes', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('note_records', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('segments', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('segment_members', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('interactions', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('interaction_contacts', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('interaction_companies', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('meetings', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('recordings', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('recording_transcripts', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('bookings', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('external_ids', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('changes', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('webhooks', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('webhook_passes', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('webhook_waiting', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('webhook_deliveries', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('backfills', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('search_runs', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('search_rows', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('search_pending', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('timeline_entries', 'org_id', colocate_with => 'org_clocks');
select create_distributed_table('idempotency_keys', 'org_id', colocate_with => 'org_clocks');

-- The counts of limits return the database's clock, which Citus does not allow for distributed tables.
-- stays on the coordinator: minute_counts
-- Citus does not distribute tables with triggers, which protect the entries of this one.
-- stays on the coordinator: audit_log
-- stays on the coordinator: kysely_migration
-- stays on the coordinator: kysely_migration_lock

do $$
declare kept record;
begin
  for kept in select * from kept_references loop
    execute format('alter table %s add constraint %I %s', kept.held_by, kept.name, kept.definition);
  end loop;
end $$;
