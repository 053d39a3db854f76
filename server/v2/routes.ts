// The v2 interface: every resource's endpoints, derived from its declaration.
import type { Association, Link, Resource } from '../../db/declare/resource.ts';
import { RESOURCES } from '../../db/resources/index.ts';
import type { Operation } from '../operation.ts';
import { associationOperations } from './associations.ts';
import { collectionOperations } from './collections.ts';
import { linkOperations } from './links.ts';
import { transcriptDownload } from './transcripts.ts';

/** All operations of version 2. */
export function v2Operations(): Operation[] {
  return [...RESOURCES.flatMap(operationsOf), transcriptDownload];
}

function operationsOf(resource: Resource): Operation[] {
  const links = Object.entries(resource.links) as [string, Link][];
  const associations = Object.entries(resource.associations) as [string, Association][];
  return [
    ...collectionOperations(resource),
    ...links.flatMap(([name, link]) => linkOperations(resource, name, link)),
    ...associations.flatMap(([name, association]) => associationOperations(resource, name, association)),
  ];
}
