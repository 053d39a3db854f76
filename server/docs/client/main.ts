// The script of the docs: operations are loaded when they are opened; search, deep links, keys and requests.
import { findAll } from './elements.ts';
import { Keys } from './keys.ts';
import { followContents, openTargets } from './places.ts';
import { colourAll, offerCopies, prepareColours } from './samples.ts';
import { offerSearch } from './search.ts';
import { offerSections } from './sections.ts';
import { offerTrials } from './trial.ts';

const NARROW = '(max-width: 60rem)';

function start(): void {
  // On a phone the guide would stand before everything else.
  if (matchMedia(NARROW).matches)
    for (const chapter of findAll('.chapter', HTMLDetailsElement)) chapter.open = false;
  prepareColours();
  const keys = new Keys();
  const offerTrial = offerTrials(keys);
  const load = offerSections((content) => {
    keys.showEntered();
    colourAll(content);
    offerTrial(content);
  });
  openTargets(load);
  offerSearch(document.body.dataset.words ?? '');
  followContents();
  offerCopies();
  colourAll(document);
}

const { whole } = document.body.dataset;
// A group has a page of its own for those without scripts; with them, everything is on one.
if (whole === undefined) start();
else location.replace(whole + (location.hash || `#${document.querySelector('h3')?.id}`));
