// Tabs above the request of an operation: one for each language, and the choice holds for all operations.
import { findAll, make } from './elements.ts';
import { LANGUAGES } from './languages/languages.ts';

const NAMES = Object.keys(LANGUAGES);
const [FIRST = ''] = NAMES;
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** The tabs of all operations. */
export class Tabs {
  #chosen = FIRST;

  /** @param onChoice is called when another language is chosen */
  constructor(private readonly onChoice: () => void) {}

  /** The name of the chosen language. */
  get chosen(): string {
    return this.#chosen;
  }

  /** Adds tabs to the sample of a request. */
  addTo(sample: HTMLElement, id: string): void {
    const panel = sample.querySelector('pre');
    if (panel === null) return;
    panel.id = `${id}.request`;
    panel.role = 'tabpanel';
    panel.tabIndex = 0;
    const tabs = NAMES.map((name) =>
      make('button', { type: 'button', role: 'tab', 'data-language': name, 'aria-controls': panel.id }, name),
    );
    const list = make('div', { role: 'tablist', 'aria-label': 'Language' }, ...tabs);
    list.addEventListener('click', ({ target }) => {
      if (target instanceof HTMLElement && target.dataset.language) this.#choose(target.dataset.language);
    });
    list.addEventListener('keydown', ({ key }) => {
      const step = STEPS[key];
      if (step === undefined) return;
      const next = (NAMES.indexOf(this.#chosen) + step + NAMES.length) % NAMES.length;
      this.#choose(NAMES[next] ?? FIRST);
      tabs[next]?.focus();
    });
    sample.querySelector('figcaption')?.firstElementChild?.replaceWith(list);
    this.#show(sample);
  }

  #choose(name: string): void {
    this.#chosen = name;
    for (const sample of findAll('.sample:has([role=tab])', HTMLElement)) this.#show(sample);
    this.onChoice();
  }

  #show(sample: HTMLElement): void {
    for (const tab of findAll('[role=tab]', HTMLElement, sample)) {
      const isChosen = tab.dataset.language === this.#chosen;
      tab.ariaSelected = String(isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen) sample.querySelector('pre')?.setAttribute('aria-label', `Request in ${this.#chosen}`);
    }
  }
}
