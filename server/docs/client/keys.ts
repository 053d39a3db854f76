// The API keys, one for each version: in memory only, and each request carries the one of its version in one header.
import { KEY_HEADERS } from './curl.ts';
import { find, findAll } from './elements.ts';

/** What the dialog was told. */
export class Keys {
  readonly #dialog = find('#keys', HTMLDialogElement);
  readonly #form = find('form', HTMLFormElement, this.#dialog);

  constructor() {
    for (const button of findAll('[data-keys]'))
      button.addEventListener('click', () => this.#open(button.dataset.keys ?? ''));
    find('[data-forget]', HTMLButtonElement).addEventListener('click', () => {
      for (const field of this.#fields()) field.value = '';
      this.#tell();
    });
    this.#form.addEventListener('input', () => this.#tell());
    this.#tell();
  }

  /** Opens the dialog at the key of a version; resolves once it is closed. */
  ask(api: string): Promise<void> {
    this.#open(api);
    return new Promise((resolve) => this.#dialog.addEventListener('close', () => resolve(), { once: true }));
  }

  /** The header that carries the key of a version; undefined if none was entered. */
  headerFor(api: string): [name: string, value: string] | undefined {
    const key = find(`#key-${api}`, HTMLInputElement).value.trim();
    const name = this.headerName();
    return key === '' ? undefined : [name, `${KEY_HEADERS[name] ?? ''}${key}`];
  }

  /** The header that is chosen. */
  headerName(): string {
    return String(new FormData(this.#form).get('header'));
  }

  /** Calls back when another header is chosen. */
  onChange(callback: () => void): void {
    this.#form.addEventListener('input', callback);
  }

  #open(api: string): void {
    this.#dialog.showModal();
    find(`#key-${api}`, HTMLInputElement).focus();
  }

  #fields(): HTMLInputElement[] {
    return findAll('input[type=password]', this.#form).filter((one) => one instanceof HTMLInputElement);
  }

  #tell(): void {
    const entered = this.#fields().filter(({ value }) => value.trim() !== '');
    const apis = entered.map(({ name }) => name);
    for (const button of findAll('form [data-keys]'))
      button.textContent = apis.includes(button.dataset.keys ?? '') ? 'entered' : 'none entered';
    find('header [data-keys]', HTMLButtonElement).textContent =
      apis.length === 0 ? 'API keys' : `API keys: ${apis.join(', ')}`;
  }
}
