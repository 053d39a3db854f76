// What single operations do beyond their summary and schemas, where a caller could expect something else.

const INTERACTION_DUPLICATE =
  'One that is there already is not written again: it comes back with 201 and the mark that it is a duplicate. ' +
  'Duplicates agree in type, primary and secondary id where a primary id is given; else in contact, type, ' +
  'direction, title and a date that was given.';
const CONTACT_CREATED =
  'An email that no contact has makes a contact, if the key may write contacts; else it is a 422.';

/** Notes by operation id, in Markdown. */
export const NOTES: Readonly<Record<string, string>> = {
  createContact:
    'At least one of email, phone, first_name and last_name. An address that another contact has is a 409.',
  updateContact: 'One of email, phone, first_name and last_name must remain.',
  createCompany: 'At least one of domain and name. A domain that another company has is a 409.',
  updateCompany: 'One of domain and name must remain.',
  createDeal:
    "Without pipeline and stage it starts in the first stage of the organization's oldest pipeline. `status` and " +
    '`closed_at` follow the type of the stage.',
  updateDeal:
    "A stage must be of the deal's pipeline unless `pipeline_id` comes with it; `pipeline_id` alone moves the deal to " +
    "that pipeline's first stage. A deal that is opened again has `closed_at` null.",
  createPipeline:
    'Without stages it gets Prospecting, Discovery, Proposal, Negotiation, Closed Won and Closed Lost. Stages take no ' +
    '`id` or `position` here.',
  updatePipeline:
    'With `stages` the list is replaced: a stage with the `id` of one that is there keeps it, and what is not said of ' +
    'it; one without is new; one left out goes, which is a 409 while deals are in it. Deals follow a changed type.',
  deletePipeline: 'A 409 while deals are in it.',
  createTask: '`done_at` follows `done`.',
  createNote: 'A note may stand under another, without limit, but never under itself.',
  updateNote: 'A `parent_id` that would make a cycle is a 422.',
  createSegment: '`record_type` stays as it is once created.',
  createInteraction: `${CONTACT_CREATED} ${INTERACTION_DUPLICATE}`,
  batchCreateInteractions: `${CONTACT_CREATED} ${INTERACTION_DUPLICATE}`,
  listDealContacts: 'Each with `linked_at` and `supervisor`.',
  linkDealContacts: '`supervisor` is set by the first link; unlink first to change it.',
  listNoteRecords: 'Type and id of each, with `linked_at`; only what the key sees.',
  listSegmentMembers:
    'Also needs `contacts:read` or `companies:read`, whichever the `record_type` of the segment says.',
  linkSegmentMembers: 'The record is of the `record_type` of the segment.',
  getMeetingDeal: '`data` is null where none is set.',
  getMeetingCompany: '`data` is null where none is set.',
  listRecordings: '`transcript_url` is null here: get one recording for a link.',
  getRecording: 'With a transcript there is, the answer has a fresh `transcript_url`.',
  createPerson: 'An email that another person has is a 409.',
  upsertPerson:
    'Finds by primary and alternative emails. Only what is present changes; the primary email stays what it was.',
  updatePerson: 'Only what is present changes. An email that another person has is a 422.',
  createCompanyV1:
    'A 200 with the id of the company that has the domain already, which is left as it is. Properties that are not ' +
    'listed are kept too: strings, numbers and booleans.',
  updateCompanyV1:
    'Only what is present changes. Properties that are not listed are kept too; null removes one.',
  getCompanyV1: 'Additional properties stand beside the listed ones.',
  createInteractionV1: `${CONTACT_CREATED} ${INTERACTION_DUPLICATE}`,
  queryPeople: 'Newest first.',
  queryInteractions: 'Newest first.',
};
