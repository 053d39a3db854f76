import type { Operation } from '../operation.ts';
export function operationDetail(operation: Operation) {
  return { summary: operation.summary, operationId: operation.id, tags: [operation.tag] };
}
