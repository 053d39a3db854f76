// What queries filter and sort by, written down by hand from the contract.
export type FilterKind =
  | 'text'
  | 'id'
  | 'enum'
  | 'boolean'
  | 'number'
  | 'instant'
  | 'date'
  | 'texts'
  | 'ids'
  | 'link'
  | 'custom';

const EQUALITY = ['eq', 'ne', 'in', 'not_in'];
const ORDER = ['lt', 'lte', 'gt', 'gte', 'between'];

/** The operators of each kind. */
export const OPERATORS_OF: Record<FilterKind, string[]> = {
  text: [...EQUALITY, 'contains', 'starts_with', 'is_null'],
  id: [...EQUALITY, 'is_null'],
  enum: [...EQUALITY, 'is_null'],
  boolean: [...EQUALITY, 'is_null'],
  number: [...EQUALITY, ...ORDER, 'is_null'],
  instant: [...EQUALITY, ...ORDER, 'is_null'],
  date: [...EQUALITY, ...ORDER, 'is_null'],
  custom: [...EQUALITY, ...ORDER, 'contains', 'starts_with', 'is_null'],
  texts: ['has', 'any_of', 'is_null'],
  ids: ['has', 'any_of', 'is_null'],
  link: ['has', 'any_of', 'is_null'],
};

const words = (text: string) => text.split(' ');
const fields = (kinds: Partial<Record<FilterKind, string>>): Record<string, FilterKind> =>
  Object.fromEntries(
    Object.entries({ ...kinds, id: `${kinds.id ?? ''} id created_by`.trim() }).flatMap(([kind, names]) =>
      words(names).map((name) => [name, kind as FilterKind]),
    ),
  );
const instants = (more = '') => `created_at updated_at ${more}`.trim();

/** The fields of each resource, those of `custom` by one name. */
export const FILTERED_FIELDS: Record<string, Record<string, FilterKind>> = {
  contacts: fields({
    text: 'email first_name last_name title phone personal_phone linkedin twitter facebook instagram whatsapp remarks',
    texts: 'alt_emails',
    id: 'company_id owner_id',
    boolean: 'keep_in_touch',
    instant: instants('last_interaction_at'),
    link: 'companies deals segments',
    custom: 'custom.size custom.a.b',
  }),
  companies: fields({
    text: 'domain name linkedin twitter facebook instagram crunchbase industry city state country',
    number: 'employee_count estimated_revenue',
    id: 'owner_id',
    instant: instants('last_interaction_at'),
    link: 'contacts deals segments',
    custom: 'custom.size custom.a.b',
  }),
  deals: fields({
    text: 'name currency',
    id: 'pipeline_id stage_id company_id point_of_contact_id owner_id',
    enum: 'status',
    number: 'estimated_value',
    date: 'estimated_close_date',
    instant: instants('stage_changed_at closed_at'),
    link: 'contacts companies',
    custom: 'custom.size custom.a.b',
  }),
  pipelines: fields({ text: 'name', instant: instants() }),
  tasks: fields({
    text: 'name description',
    boolean: 'done',
    id: 'company_id deal_id person_id main_assignee_id',
    instant: instants('due_date done_at'),
  }),
  notes: fields({
    text: 'title content',
    id: 'parent_id',
    boolean: 'is_archived',
    instant: instants(),
    link: 'contacts companies deals',
  }),
  segments: fields({ text: 'name description', enum: 'record_type', instant: instants() }),
  interactions: fields({
    text: 'title summary primary_id secondary_id',
    enum: 'type direction',
    id: 'main_contact',
    ids: 'contact_ids company_ids',
    instant: instants('interaction_date'),
  }),
  meetings: fields({
    text: 'external_id title description location timezone',
    enum: 'status',
    id: 'deal_id company_id owner_id',
    instant: instants('start_time end_time'),
  }),
  recordings: fields({
    text: 'external_id title',
    number: 'duration_seconds',
    boolean: 'has_transcript',
    id: 'meeting_id owner_id',
    instant: instants('started_at'),
  }),
  bookings: fields({
    text: 'external_id title description timezone cancellation_reason',
    texts: 'guests',
    enum: 'status',
    id: 'meeting_id owner_id',
    instant: instants('start_time end_time'),
  }),
};

const SORTS: Record<string, string> = {
  companies: 'name',
  deals: 'estimated_value estimated_close_date',
  tasks: 'due_date',
  interactions: 'interaction_date',
  meetings: 'start_time',
  bookings: 'start_time',
  recordings: 'started_at',
};

/** The fields that each resource is sorted by. */
export function sortsOf(resource: string): string[] {
  return ['created_at', 'updated_at', ...(resource in SORTS ? words(SORTS[resource] ?? '') : [])];
}
