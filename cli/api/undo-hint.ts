// How to undo deletes, by the IDs of the requests that made them.

const IDS_SHOWN_MAX = 5;

/** The command that restores what the requests deleted. */
export function undoHint(requestIds: readonly string[]): string {
  const shown = requestIds.slice(0, IDS_SHOWN_MAX).join(' ');
  const left = requestIds.length - IDS_SHOWN_MAX;
  const more = left > 0 ? `, and the same for ${left} more requests, which -o json prints` : '';
  return `To undo: crm undelete --request ${shown}${more}`;
}
