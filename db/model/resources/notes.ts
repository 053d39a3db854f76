// Notes: texts about records, organized in trees.
import { boolean, reference, text } from '../fields.ts';
import { externalId, isTrue, refersTo } from '../filters.ts';
import { link, parentsOf } from '../links.ts';
import { defineResource } from '../resource.ts';

/** Maximum depth of a note: the root of a tree is on level 1. */
export const NOTE_LEVELS_MAX = 100;

const noteRecords = link({
  table: 'note_records',
  parentColumn: 'note_id',
  childColumn: 'record_id',
  children: { contact: 'contacts', company: 'companies', deal: 'deals' },
  typedBy: 'link',
  description: 'The records that the note is about.',
});

export const notes = defineResource({
  name: 'notes',
  description: 'Texts about contacts, companies and deals; a note can have a parent note.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'created_by',
  fields: {
    title: text({ required: true, example: 'First meeting', aliases: ['Note', 'Subject', 'Note Title'] }),
    content: text({
      maxLength: 50_000,
      example: 'They want two units by spring.',
      aliases: ['Body', 'Text', 'Note Body', 'Note Content'],
    }),
    parent_id: reference('notes', {
      description: `The parent note. Notes can be nested ${NOTE_LEVELS_MAX} levels deep, without cycles.`,
    }),
    is_archived: boolean({ description: 'Whether the note is archived.', aliases: ['Archived'] }),
  },
  filters: {
    is_archived: isTrue('is_archived'),
    parent_id: refersTo('notes', 'parent_id'),
    record_id: refersTo(Object.values(noteRecords.children), parentsOf(noteRecords)),
    external_id: externalId(),
  },
  links: { records: noteRecords },
  explanations: {
    undelete: `\`parent_id\` becomes null if the parent is below a note that would come back below this one. It returns 422 if the note, or a note that would come back below it, would be nested more than ${NOTE_LEVELS_MAX} levels deep.`,
    create: `Notes can be nested ${NOTE_LEVELS_MAX} levels deep.`,
    update: `A \`parent_id\` returns 422 if it would create a cycle, or nest the note or a note below it more than ${NOTE_LEVELS_MAX} levels deep. Existing trees that are deeper can still be moved up. A note with more than 10,000 notes below it cannot be moved to a deeper level.`,
  },
  columns: ['id', 'title', 'parent_id', 'is_archived', 'created_at'],
  glance: ['title', 'content', 'contacts', 'companies', 'deals', 'owner', 'created_at'],
});
