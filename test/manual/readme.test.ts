// README's tour, run as printed: in an empty folder, with nothing but crm on the PATH.
import { readDocument } from './documents.ts';
import { testPage } from './pages.ts';

testPage(readDocument('README.md'), () => ({ hasServer: false }));
