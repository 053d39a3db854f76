// Opens the screen of `crm top`; only ever loaded on a terminal.
import { showScreen } from '../../terminal/show-screen.tsx';
import { type MetricsFeed, TopScreen } from './TopScreen.tsx';

/** Resolves once the person quits. */
export async function showTop(feed: MetricsFeed): Promise<void> {
  await showScreen<'quit'>((props) => <TopScreen {...props} feed={feed} />);
}
