// The API keys, one per version, in memory only; each request sends the key of its version in one header.
import { find, findAll } from './elements.ts';
import { KEY_HEADERS } from './request.ts';

/** The keys entered in the dialog. */
export class Keys {
  readonly #dialog = find('#keys', HTMLDialogElement);
  readonly #form = find('form', HTMLFormElement, this.#dialog);
  readonly #fields = findAll('input[type=password]', HTMLInputElement, this.#form);

  constructor() {
    document.addEventListener('click', ({ target }) => {
      const button = target instanceof Element ? target.closest<HTMLElement>('[data-keys]') : null;
      if (button !== null) this.#open(button.dataset.keys ?? '');
    });
    find('[data-forget]', HTMLButtonElement).addEventListener('click', () => {
      for (const field of this.#fields) field.value = '';
      this.showEntered();
    });
    this.#form.addEventListener('input', () => this.showEntered());
  }

  /** Opens the dialog with the focus on the key of a version; resolves when it is closed. */
  ask(api: string): Promise<void> {
    this.#open(api);
    return new Promise((resolve) => this.#dialog.addEventListener('close', () => resolve(), { once: true }));
  }

  /** The header with the key of a version; undefined if no key was entered. */
  headerFor(api: string): [name: string, value: string] | undefined {
    const key = find(`#key-${api}`, HTMLInputElement).value.trim();
    const name = this.headerName();
    return key === '' ? undefined : [name, `${KEY_HEADERS[name] ?? ''}${key}`];
  }

  /** The chosen header. */
  headerName(): string {
    return String(new FormData(this.#form).get('header'));
  }

  /** Calls back when another header is chosen or a key changes. */
  onChange(callback: () => void): void {
    this.#form.addEventListener('input', callback);
  }

  #open(api: string): void {
    this.#dialog.showModal();
    find(`#key-${api}`, HTMLInputElement).focus();
  }

  /** Says on every button which keys there are. */
  showEntered(): void {
    const entered = this.#fields.filter(({ value }) => value.trim() !== '');
    const apis = entered.map(({ name }) => name);
    for (const button of findAll('form [data-keys]', HTMLElement))
      button.textContent = apis.includes(button.dataset.keys ?? '') ? 'Change API key' : 'Add API key';
    find('header [data-keys]', HTMLButtonElement).textContent =
      apis.length === 0 ? 'API keys' : `API keys: ${apis.join(', ')}`;
  }
}
