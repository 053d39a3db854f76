// The tools that write down what happened and what is to be done: log_interaction, add_note and add_task.
import { Type } from 'typebox';
import type { Resource } from '../../db/model/resource.ts';
import { interactions } from '../../db/model/resources/interactions.ts';
import { notes } from '../../db/model/resources/notes.ts';
import { tasks } from '../../db/model/resources/tasks.ts';
import { createFields } from '../api/body.ts';
import { counted } from '../terminal/format.ts';
import { bodyFor, nameArguments, valueArguments } from './bodies.ts';
import { call, ToolError, withAdvice } from './failures.ts';
import { writtenText } from './results.ts';
import { type Service, servicePath } from './service.ts';
import { ADDING, argumentsOf, fieldValue, oneArgumentOf, type Tool, textArgument } from './tool.ts';

/** The arguments for a new record of one resource. */
function creationArguments(resource: Resource) {
  const fields = createFields(resource);
  const required = Object.entries(fields).filter(([, field]) => field.required);
  return {
    ...nameArguments([resource]),
    ...valueArguments(fields, false),
    ...Object.fromEntries(required.map(([name, field]) => [name, fieldValue(field, false)])),
  };
}

const logInteraction: Tool = {
  name: 'log_interaction',
  title: 'Log an interaction',
  description:
    'Write down an email, call, meeting or message with a contact, which cannot be changed later. Send main_contact, or ' +
    'contact, an email; a contact is created if none has it. MANUAL is for what has no better type. Without a date, it happened now.',
  input: argumentsOf({
    ...creationArguments(interactions),
    contact: Type.Optional(textArgument('Email; the same as main_contact_email')),
  }),
  hints: ADDING,
  run: async ({ contact: email, ...given }, service) => {
    if (email !== undefined && (given.main_contact_email ?? given.main_contact) !== undefined)
      throw new ToolError(
        'VALIDATION_FAILED',
        'contact: send one of contact, main_contact, main_contact_email',
      );
    const known = { ...given, ...(email !== undefined && { main_contact_email: email }) };
    const body = await bodyFor(interactions, known, service);
    const { is_duplicate, ...record } = await service.write(servicePath(interactions.name), body);
    const done = is_duplicate === true ? 'It was logged before. Nothing was written' : 'Logged';
    const contact = { resource: 'contacts', id: record.main_contact };
    const next =
      typeof contact.id === 'string' ? [`${call('timeline', contact)} shows what else happened.`] : [];
    return writtenText(done, record, interactions.name, next);
  },
};

interface About {
  record_type: string;
  record_id: string;
}

const NOTE_LINK = 'notes.records';
const recordsLink = notes.links.records;
const RECORD_TYPES = recordsLink?.children ?? {};

const addNote: Tool = {
  name: 'add_note',
  title: 'Add a note',
  description: 'Write a note, and link it to the contacts, companies and deals that it is about.',
  input: argumentsOf({
    ...creationArguments(notes),
    records: Type.Optional(
      Type.Array(
        Type.Object(
          { record_type: oneArgumentOf(Object.keys(RECORD_TYPES)), record_id: Type.String() },
          { additionalProperties: false },
        ),
        { maxItems: 20, description: 'What it is about' },
      ),
    ),
  }),
  hints: ADDING,
  run: async ({ records = [], ...given }, service) => {
    const about = records as unknown as About[];
    await requireRecords(about, service);
    const body = await bodyFor(notes, given, service);
    const note = await service.write(servicePath(notes.name), body);
    if (about.length > 0) await linkNote(String(note.id), about, service);
    const linked =
      about.length === 0 ? 'Added, linked to nothing' : `Added, linked to ${counted(about.length, 'record')}`;
    const later = call('link', { of: NOTE_LINK, parent_id: note.id, id: 'ID', record_type: 'contact' });
    return writtenText(
      linked,
      note,
      notes.name,
      about.length === 0 ? [`${later} says what it is about.`] : [],
    );
  },
};

/** Before anything is written: an ID that is not there would leave a note without its record. */
async function requireRecords(about: readonly About[], service: Service): Promise<void> {
  for (const [type, some] of Map.groupBy(about, ({ record_type }) => record_type)) {
    const ids = some.map(({ record_id }) => record_id);
    const missing = await service.missing(RECORD_TYPES[type] ?? '', ids).catch((error: unknown) => {
      // A key can link what it cannot read.
      if (error instanceof ToolError && error.code === 'AUTH_INSUFFICIENT_SCOPE') return [];
      throw error;
    });
    if (missing.length === 0) continue;
    const unknown = missing.map((index) => ids[index]).join(', ');
    throw new ToolError(
      'RESOURCE_NOT_FOUND',
      `records: there is no ${type} ${unknown}. Nothing was written.`,
      {
        steps: ['Find the ID with search or query.'],
      },
    );
  }
}

/** Throws, with what is linked and the calls that link the rest, if not all links can be made. */
async function linkNote(noteId: string, about: readonly About[], service: Service): Promise<void> {
  const links = about.map(({ record_type, record_id }) => ({
    ...{ of: NOTE_LINK, parent_id: noteId, id: record_id },
    record_type,
  }));
  const written = `The note ${noteId} was written. Do not add it again`;
  const { items } = await service.writeBatch('/api/v2/links/batch', links).catch((error: unknown) => {
    throw withAdvice(error, `${written}; link it to each record: ${call('link', links[0] ?? {})}`);
  });
  const failed = items.flatMap(({ error, index }) => (error === undefined ? [] : [{ error, index }]));
  const [first] = failed;
  if (first === undefined) return;
  const missing = new Set(failed.map(({ index }) => index));
  const linked = about.filter((_, index) => !missing.has(index)).map(({ record_id }) => record_id);
  const message = `${written}: it is linked to ${linked.join(', ') || 'nothing'}, but not to the others.`;
  throw new ToolError(first.error.code, message, {
    details: failed.flatMap(({ error, index }) =>
      (error.details?.length ? error.details : [{ message: error.message }]).map((detail) => ({
        path: `records.${index}.record_id`,
        message: detail.message,
      })),
    ),
    steps: failed.map(({ index }) => call('link', links[index] ?? {})),
  });
}

const addTask: Tool = {
  name: 'add_task',
  title: 'Add a task',
  description:
    'Write down what someone has to do about a contact (person_id), a company or a deal. To mark a task as done, update it.',
  input: argumentsOf(creationArguments(tasks)),
  hints: ADDING,
  run: async (given, service) => {
    const task = await service.write(servicePath(tasks.name), await bodyFor(tasks, given, service));
    const done = call('update', { resource: tasks.name, id: task.id, done: true });
    return writtenText('Added', task, tasks.name, task.done === true ? [] : [`${done} marks it as done.`]);
  },
};

export const LOG_TOOLS: readonly Tool[] = [logInteraction, addNote, addTask];
