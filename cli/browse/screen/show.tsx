// Opens the browser; only ever loaded on a terminal.
import type { Resource } from '../../../db/model/resource.ts';
import { showScreen } from '../../terminal/show-screen.tsx';
import type { BrowserSource } from '../source.ts';
import { BrowseScreen } from './BrowseScreen.tsx';

/** Resolves once the person quits; `hear` takes what listens for news of requests, such as waits. */
export async function showBrowser(
  source: BrowserSource,
  resource: Resource | null,
  hear: (listener: (text: string) => void) => void,
): Promise<void> {
  await showScreen<'quit'>((props) => <BrowseScreen {...props} {...{ source, resource, hear }} />);
}
