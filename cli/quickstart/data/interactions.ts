// Generates the interactions of the demo data.
import { DAY_MS } from '../../input/instant.ts';
import { workingHour } from './days.ts';
import kinds from './interactions.json' with { type: 'json' };
import { createRandom } from './random.ts';
import { type DemoDeal, fillIn } from './sales.ts';
import type { DemoRecord } from './types.ts';

/** `count` interactions of the last 300 days with the contacts of deals. */
export function makeInteractions(count: number, deals: readonly DemoDeal[], today: number): DemoRecord[] {
  const random = createRandom('interactions');
  return Array.from({ length: count }, (_, index) => {
    const deal = random.pick(deals);
    const kind = random.weighted(kinds.map((one) => [one, one.weight] as const));
    const { title, summary } = random.pick(kind.texts);
    const data = {
      ...{ type: kind.type, direction: kind.direction },
      ...{ title: fillIn(title, deal), summary: fillIn(summary, deal) },
      // The seconds differ, or two equal ones would count as the same interaction.
      interaction_date: workingHour(today - random.integer(1, 300) * DAY_MS, random) + (index % 900) * 1_000,
      main_contact: deal.contact.key,
      ...(kind.type === 'EMAIL' && {
        primary_id: `msg-${10_000 + index}`,
        secondary_id: `thread-${deal.key.slice(6)}`,
      }),
    };
    return { key: `interactions/${index}`, data };
  });
}
