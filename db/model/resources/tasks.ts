// Tasks: what someone has to do about a contact, a company or a deal.
import { boolean, instant, LONG_TEXT_CHARACTERS_MAX, reference, text, timestamp } from '../fields.ts';
import { after, before, externalId, isTrue, refersTo } from '../filters.ts';
import { defineResource } from '../resource.ts';

export const tasks = defineResource({
  name: 'tasks',
  description: 'To-dos about a contact, a company or a deal.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'main_assignee_id',
  fields: {
    name: text({
      required: true,
      example: 'Send the drawings',
      aliases: ['Task', 'Task Name', 'Subject', 'Title', 'Task Title'],
    }),
    description: text({
      maxLength: LONG_TEXT_CHARACTERS_MAX,
      example: 'Sheets 1 to 20.',
      aliases: ['Notes', 'Details', 'Task Notes'],
    }),
    due_date: instant({
      description: 'When the task is due, in Unix milliseconds.',
      aliases: ['Due', 'Due On', 'Deadline'],
    }),
    done: boolean({
      description: 'Whether the task is done.',
      aliases: ['Completed', 'Is Done', 'Complete'],
    }),
    company_id: reference('companies', { description: 'The company that the task is about.' }),
    deal_id: reference('deals', { description: 'The deal that the task is about.' }),
    person_id: reference('contacts', { description: 'The contact that the task is about.' }),
    main_assignee_id: reference('users', {
      description: 'The user who is responsible for the task.',
      aliases: ['Assigned To', 'Assignee', 'Task owner'],
    }),
    done_at: timestamp({
      example: null,
      description: 'When the task was marked as done; null if it is not done.',
    }),
  },
  alsoSortedBy: ['due_date'],
  filters: {
    done: isTrue('done'),
    main_assignee_id: refersTo('users', 'main_assignee_id'),
    company_id: refersTo('companies', 'company_id'),
    deal_id: refersTo('deals', 'deal_id'),
    person_id: refersTo('contacts', 'person_id'),
    due_before: before('due_date'),
    due_after: after('due_date'),
    external_id: externalId(),
  },
  explanations: { create: '`done_at` follows `done`.' },
  columns: ['id', 'name', 'done', 'due_date', 'main_assignee_id', 'created_at'],
  glance: ['name', 'done', 'due_date', 'owner', 'company', 'contacts', 'deals', 'created_at'],
});
