// The page's script: search, deep links, keys and requests; without scripts the page can still be read.

import { Keys } from './keys.ts';
import { followContents, openTargets } from './places.ts';
import { colourJson, offerCopies } from './samples.ts';
import { offerSearch } from './search.ts';
import { offerTrials } from './trial.ts';

openTargets();
offerSearch();
followContents();
offerCopies();
colourJson();
offerTrials(new Keys());
