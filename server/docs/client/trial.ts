// Trying an operation: the form becomes a request and its sample, and the response is shown below it.
import { find, findAll, make } from './elements.ts';
import type { Keys } from './keys.ts';
import { LANGUAGES } from './languages/languages.ts';
import { addressOf, type HttpRequest } from './request.ts';
import { colour } from './samples.ts';
import { Tabs } from './tabs.ts';

// The folder of the page, so that it works under any path that a proxy adds.
const BASE = new URL('.', location.href).href;

/** Makes every form send its request, and every sample follow its form; call the result for an operation that was loaded. */
export function offerTrials(keys: Keys): (content: HTMLElement) => void {
  const showAll = () => {
    for (const form of findAll('.operation[open] form', HTMLFormElement)) showSample(form, keys, tabs);
  };
  const tabs = new Tabs(showAll);
  keys.onChange(showAll);
  const followForms = ({ type, target }: Event) => {
    const form = target instanceof Element ? target.closest<HTMLFormElement>('form[data-path]') : null;
    if (form === null) return undefined;
    return type === 'submit' ? form : showSample(form, keys, tabs);
  };
  document.addEventListener('input', followForms);
  document.addEventListener('submit', (event) => {
    const form = followForms(event);
    if (!form) return;
    event.preventDefault();
    send(form, keys);
  });
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (target instanceof HTMLDetailsElement && target.matches('.operation[open]')) showAll();
    },
    { capture: true },
  );
  return (content) => {
    const sample = content.querySelector<HTMLElement>('.sample:has(.curl)');
    if (sample !== null) tabs.addTo(sample, content.id);
    showAll();
  };
}

// The request of a form; a required field that is empty uses its example.
function requestOf(form: HTMLFormElement): HttpRequest {
  const params: Record<string, string> = {};
  const query: [string, string][] = [];
  const headers: [string, string][] = [];
  for (const [field, entered] of new FormData(form)) {
    const [place, name = ''] = field.split(/:(.*)/);
    const value = String(entered) || exampleIn(form, field);
    if (value === '') continue;
    if (place === 'path') params[name] = value;
    if (place === 'query') query.push([name, value]);
    if (place === 'header') headers.push([name, value]);
  }
  const { method = 'GET', path = '' } = form.dataset;
  const body = form.querySelector('textarea')?.value;
  return { method, url: addressOf(BASE, path, params, query), headers, body };
}

function exampleIn(form: HTMLFormElement, name: string): string {
  const field = form.elements.namedItem(name);
  return field instanceof HTMLInputElement && field.required ? field.placeholder : '';
}

function showSample(form: HTMLFormElement, keys: Keys, tabs: Tabs): void {
  const sample = form.closest('.shown')?.querySelector('pre');
  const write = LANGUAGES[tabs.chosen];
  const header = form.dataset.api === undefined ? undefined : keys.headerName();
  if (sample && write) sample.textContent = write(requestOf(form), header);
}

async function send(form: HTMLFormElement, keys: Keys): Promise<void> {
  const status = find('.status', HTMLElement, form);
  const answer = find('.answered', HTMLElement, form);
  if (form.ariaBusy === 'true') return;
  const { api } = form.dataset;
  form.ariaBusy = 'true';
  answer.replaceChildren();
  // Without a key the response would only be a 401.
  if (api !== undefined && keys.headerFor(api) === undefined) {
    status.replaceChildren(`Enter a version ${api.slice(1)} key first.`);
    await keys.ask(api);
    if (keys.headerFor(api) === undefined) {
      status.dataset.outcome = 'bad';
      status.replaceChildren(
        make('b', {}, 'Request not sent'),
        `: it needs a version ${api.slice(1)} key. Create one with "crm keys issue".`,
      );
      form.ariaBusy = null;
      return;
    }
  }
  status.replaceChildren('Sending…');
  try {
    const startedAt = performance.now();
    const response = await fetch(...callOf(requestOf(form), keys, api));
    const text = await textOf(response);
    status.dataset.outcome = response.ok ? 'good' : 'bad';
    const took = Math.round(performance.now() - startedAt);
    status.replaceChildren(make('b', {}, `${response.status} ${response.statusText}`), ` in ${took} ms`);
    answer.replaceChildren(...answerOf(response.headers, text));
    answer.querySelectorAll('pre.json').forEach(colour);
  } catch (error) {
    status.dataset.outcome = 'bad';
    status.replaceChildren(`No response: ${error instanceof Error ? error.message : error}`);
  }
  form.ariaBusy = null;
}

const STREAM_SHOWN_MS = 10_000;

// Of a response that stays open, what arrives within some seconds.
async function textOf(response: Response): Promise<string> {
  const isStream = response.headers.get('Content-Type') === 'text/event-stream';
  if (!isStream || response.body === null) return response.text();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => reader.cancel(), STREAM_SHOWN_MS);
  let text = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  clearTimeout(timer);
  return text;
}

function callOf(request: HttpRequest, keys: Keys, api: string | undefined): [url: string, init: RequestInit] {
  const { url, method, body } = request;
  const headers = new Headers(request.headers.map(([name, value]): [string, string] => [name, value]));
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  const key = api === undefined ? undefined : keys.headerFor(api);
  if (key !== undefined) headers.set(...key);
  return [url, { method, headers, body, cache: 'no-store' }];
}

function answerOf(headers: Headers, text: string): HTMLElement[] {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const parts = [make('details', {}, make('summary', {}, 'Headers'), make('pre', {}, lines))];
  if (text === '') return parts;
  const caption = make('figcaption', {}, 'Body', make('button', { type: 'button', 'data-copy': '' }, 'Copy'));
  const reachable = { tabindex: '0', role: 'region', 'aria-label': 'Response body' };
  const body = make('pre', { class: 'json', ...reachable }, readable(text));
  return [...parts, make('figure', { class: 'sample' }, caption, body)];
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
