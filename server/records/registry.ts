// The resources with rules of their own; all others have only the common rules.
import type { Resource } from '../../db/model/resource.ts';
import { bookingRules } from './bookings.ts';
import { companyRules } from './companies.ts';
import { contactRules } from './contacts.ts';
import { dealRules } from './deals.ts';
import { interactionRules } from './interactions.ts';
import { meetingRules } from './meetings.ts';
import { noteRules } from './notes.ts';
import { pipelineRules } from './pipelines.ts';
import type { Rules } from './rules.ts';
import { segmentRules } from './segments.ts';
import { taskRules } from './tasks.ts';

const RULES: Record<string, Rules> = {
  bookings: bookingRules,
  companies: companyRules,
  contacts: contactRules,
  deals: dealRules,
  interactions: interactionRules,
  meetings: meetingRules,
  notes: noteRules,
  pipelines: pipelineRules,
  segments: segmentRules,
  tasks: taskRules,
};

const NONE: Rules = {};

/** The rules of a resource. */
export function rulesOf(resource: Resource): Rules {
  return RULES[resource.name] ?? NONE;
}
