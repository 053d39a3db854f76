// Segments: named sets of contacts or of companies.
import { Type } from 'typebox';
import { enumeration, LONG_TEXT_CHARACTERS_MAX, text } from '../fields.ts';
import { externalId, oneOf } from '../filters.ts';
import { json } from '../json-fields.ts';
import { link } from '../links.ts';
import { defineResource } from '../resource.ts';

const RECORD_TYPES = ['contact', 'company'] as const;

export const segmentMembers = link({
  table: 'segment_members',
  parentColumn: 'segment_id',
  childColumn: 'record_id',
  children: { contact: 'contacts', company: 'companies' },
  typedBy: 'parent',
  description: "The segment's members, which all have its record_type.",
});

export const segments = defineResource({
  name: 'segments',
  description: 'Named sets of contacts or of companies.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'created_by',
  fields: {
    name: text({ required: true, example: 'Newsletter', aliases: ['Segment', 'Segment Name', 'List Name'] }),
    description: text({ maxLength: LONG_TEXT_CHARACTERS_MAX, example: 'Everyone who asked for it.' }),
    record_type: enumeration(RECORD_TYPES, {
      access: 'create',
      initial: 'contact',
      description: 'The type of its members; cannot be changed later.',
    }),
    member_count: json(Type.Integer({ minimum: 0 }), {
      column: null,
      initial: 0,
      example: 0,
      description: 'Number of members.',
    }),
  },
  filters: { record_type: oneOf('record_type', RECORD_TYPES), external_id: externalId() },
  links: { members: segmentMembers },
  explanations: { create: '`record_type` cannot be changed later.' },
  columns: ['id', 'name', 'record_type', 'member_count', 'created_at'],
  glance: ['name', 'record_type', 'member_count', 'description', 'created_at'],
});
