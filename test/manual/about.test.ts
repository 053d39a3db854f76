// The pages of the manual under "About", run as printed.
import { testGroup } from './pages.ts';

testGroup('About');
