// The pages of the manual under "Access", run as printed.
import { testGroup } from './pages.ts';

testGroup('Access');
