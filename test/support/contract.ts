// What the contract says of v2's resources, written down by hand: the declarations must say the same.

export interface Contract {
  singular: string;
  required: string[];
  /** Fields that a create takes. */
  writable: string[];
  /** Fields that a create takes and an update does not. */
  fixed?: string[];
  /** Fields of a create that the record does not show. */
  inputs?: string[];
  readOnly: string[];
  filters: string[];
  verbs: string[];
}

const ALL_VERBS = ['list', 'get', 'create', 'update', 'delete', 'batch'];
const READ_VERBS = ['list', 'get'];

/** Fields of every record, set by the service. */
export const COMMON_FIELDS = ['id', 'created_at', 'updated_at', 'created_by'];

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

export const CONTRACT: Record<string, Contract> = {
  contacts: {
    singular: 'contact',
    required: [],
    writable: words(
      'email alt_emails first_name last_name title phone personal_phone linkedin twitter facebook instagram ' +
        'whatsapp remarks company_id owner_id keep_in_touch custom',
    ),
    readOnly: ['last_interaction_at'],
    filters: words('email phone company_id owner_id segment_id external_id'),
    verbs: ALL_VERBS,
  },
  companies: {
    singular: 'company',
    required: [],
    writable: words(
      'domain name linkedin twitter facebook instagram crunchbase industry employee_count estimated_revenue ' +
        'city state country owner_id custom',
    ),
    readOnly: ['last_interaction_at'],
    filters: words('domain name owner_id segment_id external_id'),
    verbs: ALL_VERBS,
  },
  deals: {
    singular: 'deal',
    required: ['name'],
    writable: words(
      'name pipeline_id stage_id estimated_value currency estimated_close_date company_id ' +
        'point_of_contact_id owner_id custom',
    ),
    readOnly: words('status stage_changed_at closed_at'),
    filters: words('pipeline_id stage_id status owner_id company_id contact_id external_id'),
    verbs: ALL_VERBS,
  },
  pipelines: {
    singular: 'pipeline',
    required: ['name'],
    writable: words('name stages'),
    readOnly: [],
    filters: [],
    verbs: ALL_VERBS,
  },
  tasks: {
    singular: 'task',
    required: ['name'],
    writable: words('name description due_date done company_id deal_id person_id main_assignee_id'),
    readOnly: ['done_at'],
    filters: words('done main_assignee_id company_id deal_id person_id due_before due_after external_id'),
    verbs: ALL_VERBS,
  },
  notes: {
    singular: 'note',
    required: ['title'],
    writable: words('title content parent_id is_archived'),
    readOnly: [],
    filters: words('is_archived parent_id record_id external_id'),
    verbs: ALL_VERBS,
  },
  segments: {
    singular: 'segment',
    required: ['name'],
    writable: words('name description record_type'),
    fixed: ['record_type'],
    readOnly: ['member_count'],
    filters: words('record_type external_id'),
    verbs: ALL_VERBS,
  },
  interactions: {
    singular: 'interaction',
    required: words('type direction title'),
    writable: words(
      'type direction title summary interaction_date main_contact main_contact_email primary_id secondary_id ' +
        'contact_ids company_ids',
    ),
    inputs: ['main_contact_email'],
    readOnly: [],
    filters: words('contact_id company_id type direction'),
    verbs: ['list', 'get', 'create', 'batch'],
  },
  meetings: {
    singular: 'meeting',
    required: [],
    writable: [],
    readOnly: words(
      'title description location start_time end_time timezone status organizer attendees deal_id company_id ' +
        'recording_ids external_id owner_id',
    ),
    filters: words('deal_id company_id start_before start_after'),
    verbs: READ_VERBS,
  },
  recordings: {
    singular: 'recording',
    required: [],
    writable: [],
    readOnly: words(
      'external_id meeting_id title started_at duration_seconds has_transcript transcript_url recording_url ' +
        'video_status owner_id',
    ),
    filters: words('meeting_id has_transcript'),
    verbs: READ_VERBS,
  },
  bookings: {
    singular: 'booking',
    required: [],
    writable: [],
    readOnly: words(
      'title description status start_time end_time timezone organizer attendee guests cancellation_reason ' +
        'meeting_id external_id owner_id',
    ),
    filters: words('status attendee_email start_before start_after'),
    verbs: READ_VERBS,
  },
};

/** Names of the resources that clients create. */
export const CREATABLE = Object.keys(CONTRACT).filter((name) => CONTRACT[name]?.verbs.includes('create'));
/** Names of the resources that clients change and delete. */
export const CHANGEABLE = Object.keys(CONTRACT).filter((name) => CONTRACT[name]?.verbs.includes('update'));
/** Names of the resources that only integrations write. */
export const READ_ONLY = Object.keys(CONTRACT).filter((name) => !CREATABLE.includes(name));

const LONG_TEXTS: Record<string, number> = {
  remarks: 10_000,
  description: 10_000,
  summary: 10_000,
  content: 50_000,
};

/** How many code points a text field takes. */
export function lengthMaxOf(field: string): number {
  return LONG_TEXTS[field] ?? 1_000;
}

/** Parameters that every list takes beside its filters. */
export function listParametersOf(resource: string): string[] {
  const common = ['cursor', 'limit', 'sort_by', 'sort_direction', 'created_since'];
  return resource === 'pipelines' ? common : [...common, 'updated_since'];
}
