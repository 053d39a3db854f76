// The v2 API: every resource's endpoints, derived from its declaration.
import { memoize } from '../../db/cache.ts';
import { type Association, hasExternalIds, type Link, type Resource } from '../../db/model/resource.ts';
import { recordings } from '../../db/model/resources/recordings.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { hasTimeline } from '../../db/model/timelines.ts';
import type { Network } from '../../db/networks.ts';
import type { Operation } from '../operation.ts';
import type { RequestLimits } from '../pipeline/rate-limit.ts';
import { associationOperations } from './associations.ts';
import { authentication } from './authentication.ts';
import { changeOperations } from './changes.ts';
import { collectionOperations, type ShownAlone } from './collections.ts';
import { externalIdOperations } from './external-ids.ts';
import { historyOperation } from './history.ts';
import { linkOperations } from './links.ts';
import { bulkLinkOperations } from './links-in-bulk.ts';
import { queryOperations } from './queries.ts';
import { searchOperation } from './search.ts';
import { timelineOperation } from './timeline.ts';
import type { TranscriptLinks } from './transcript-links.ts';
import { transcriptDownload, withTranscriptLink } from './transcripts.ts';
import { undeleteOperation } from './undelete.ts';
import { webhookOperations } from './webhooks.ts';

/**
 * All operations of version 2.
 * @param transcriptLinks issues and checks the links of transcript downloads
 * @param limits of keys and organizations that have none of their own
 * @param webhookNetworks where webhooks can be sent besides public addresses
 */
export function v2Operations(
  transcriptLinks: TranscriptLinks,
  limits: RequestLimits,
  webhookNetworks: readonly Network[],
): Operation[] {
  const alone: Record<string, ShownAlone> = { [recordings.name]: withTranscriptLink(transcriptLinks) };
  return [
    authentication(limits),
    ...RESOURCES.flatMap((resource) =>
      resource.name in alone ? operationsOf(resource, alone[resource.name]) : memoizedOperationsOf(resource),
    ),
    ...bulkLinkOperations(),
    searchOperation(),
    ...changeOperations(),
    ...webhookOperations(webhookNetworks),
    transcriptDownload(transcriptLinks),
  ];
}

// Asked for by the server, its router and its description, and in tests by each service.
const memoizedOperationsOf = memoize((resource: Resource) => operationsOf(resource));

function operationsOf(resource: Resource, alone?: ShownAlone): Operation[] {
  const links = Object.entries(resource.links) as [string, Link][];
  const associations = Object.entries(resource.associations) as [string, Association][];
  return [
    ...collectionOperations(resource, alone),
    ...queryOperations(resource),
    ...links.flatMap(([name, link]) => linkOperations(resource, name, link)),
    historyOperation(resource),
    ...(hasTimeline(resource.name) ? [timelineOperation(resource)] : []),
    ...(resource.verbs.includes('delete') ? [undeleteOperation(resource)] : []),
    ...(hasExternalIds(resource) ? externalIdOperations(resource) : []),
    ...associations.flatMap(([name, association]) => associationOperations(resource, name, association)),
  ];
}
