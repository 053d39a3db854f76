// Counts of what was sent to webhooks, for the metrics.
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from '../../db/webhooks/deliveries.ts';

export class WebhookStats {
  readonly #attempts = new Map<DeliveryOutcome, number>(
    DELIVERY_OUTCOMES.filter((outcome) => outcome !== 'pending').map((outcome) => [outcome, 0]),
  );
  /** Requests under way. */
  underWay = 0;
  /** Changes that were given up after the last attempt. */
  givenUp = 0;

  /** Counts an attempt. */
  attempted(outcome: DeliveryOutcome): void {
    this.#attempts.set(outcome, (this.#attempts.get(outcome) ?? 0) + 1);
  }

  /** Number of attempts since the server started, by outcome. */
  get attempts(): ReadonlyMap<DeliveryOutcome, number> {
    return this.#attempts;
  }
}
