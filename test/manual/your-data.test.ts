// The pages of the manual under "Your data", run as printed.
import { testGroup } from './pages.ts';

testGroup('Your data');
