// The pages of the manual under "Run it", run as printed.
import { testGroup } from './pages.ts';

testGroup('Run it');
