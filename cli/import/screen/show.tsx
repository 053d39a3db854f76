// Opens the screen of an import; only ever loaded on a terminal.
import { showScreen } from '../../terminal/show-screen.tsx';
import type { ImportRequest } from '../request.ts';
import type { ImportView } from './draft.ts';
import { ImportScreen } from './ImportScreen.tsx';

/** The request as a person has changed it; null to import nothing. */
export async function showImport(subject: ImportView, initial: ImportRequest): Promise<ImportRequest | null> {
  const result = await showScreen<ImportRequest | 'cancelled'>((props) => (
    <ImportScreen {...props} subject={subject} initial={initial} />
  ));
  return result === 'cancelled' ? null : result;
}
