// The pages of the manual under "Get started", run as printed.
import { testGroup } from './pages.ts';

testGroup('Get started');
