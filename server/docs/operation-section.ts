// One operation on the page: a line that opens to its description, beside its request and responses.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { addressOf, curlLine, KEY_HEADERS } from './client/curl.ts';
import type { Entry } from './entries.ts';
import { fieldList, type Listing, parameterList, toldElsewhere } from './fields.ts';
import { tryForm } from './forms.ts';
import { type Html, html } from './html.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { type AnswerShape, examplesOf, type Parameter, type SchemaShape } from './shapes.ts';
import { flatten } from './words.ts';

const LEVEL = 4;
const PLACES: [Parameter['in'], title: string][] = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
];

/**
 * An operation, folded.
 * @param base the URL of the service as far as it is known
 * @param listed the components that earlier operations list in full
 */
export function operationSection(entry: Entry, base: string, listed: Listing['listed']): Html {
  const { id, method, path, title, description, isDeprecated, body } = entry;
  const listing = { operation: entry, listed };
  return html`<details class="operation"><summary><h4>${methodBadge(method)}<span class="title">${title}</span> <code class="path">${path}</code>${
    isDeprecated ? html`<span class="old">deprecated</span>` : undefined
  }</h4></summary>
<div class="opened" id="${id}">
<div class="told">
${markdown(description, LEVEL)}
${PLACES.map(([place, name]) => parametersIn(entry, place, name))}
${body && html`<h5>Body</h5>${fieldList(body.schema, 'client', listing)}`}
<h5>Responses</h5>${entry.successes.map(([status, answer]) => success(status, answer, listing))}
<h5>Errors</h5>${entry.errors.map(([status, answer]) => failure(status, answer, listing))}
</div>
<div class="shown">
${sample('Request', 'curl', curlLine(exampleRequest(entry, base), entry.isKeyless ? undefined : FIRST_KEY_HEADER))}
${tryForm(entry)}
${entry.successes.map(([status, answer]) => answerSample(status, answer))}
</div>
</div></details>
`;
}

/** A method as shown beside a path or title. */
export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span> `;
}

const [FIRST_KEY_HEADER = ''] = Object.keys(KEY_HEADERS);

function parametersIn({ parameters }: Entry, place: Parameter['in'], title: string): Html | undefined {
  const found = parameters.filter((parameter) => parameter.in === place);
  return found.length === 0 ? undefined : html`<h5>${title}</h5>${parameterList(found, 'client')}`;
}

function exampleRequest({ method, path, parameters, body }: Entry, base: string) {
  const params: Record<string, string> = {};
  for (const parameter of parameters.filter((one) => one.in === 'path'))
    params[parameter.name] = String(examplesOf(parameter)[0] ?? '');
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map((one) => [one.name, String(examplesOf(one)[0] ?? '')] as const);
  const sent = body?.example === undefined ? {} : { body: pretty(body.example) };
  return { method, url: addressOf(base, path, params, query), headers: [], ...sent };
}

function success(status: string, answer: AnswerShape, listing: Listing): Html {
  const [content] = Object.values(answer.content ?? {});
  return html`<details class="answer"><summary><code>${status}</code> ${inlineMarkdown(answer.description ?? '')}</summary>
${content?.schema && fieldList(content.schema, 'service', listing)}${headerList(answer, listing)}</details>`;
}

function failure(status: string, answer: AnswerShape, listing: Listing): Html {
  const summary = html`<summary><code>${status}</code> ${inlineMarkdown(answer.description ?? '')}</summary>`;
  const link = toldElsewhere(JSON.stringify([status, answer]), listing);
  if (link !== undefined)
    return html`<details class="answer error">${summary}<p class="headers-of">${link}</p></details>`;
  const [content] = Object.values(answer.content ?? {});
  const examples = content === undefined ? [] : examplesOf(content);
  const headers = Object.keys(answer.headers ?? {}).map((name) => html` <code>${name}</code>`);
  return html`<details class="answer error">${summary}
${examples.map((value) => html`<pre class="json">${pretty(essenceOf(value))}</pre>`)}
${headers.length > 0 ? html`<p class="headers-of">Headers:${headers}</p>` : undefined}</details>`;
}

// Shows only the error, since the rest of the envelope is the same for all.
function essenceOf(value: JsonValue): JsonValue {
  const { error } = value as Data;
  return error === undefined ? value : { error };
}

function headerList({ headers = {} }: AnswerShape, listing: Listing): Html | undefined {
  const entries = Object.entries(headers);
  if (entries.length === 0) return undefined;
  const link = toldElsewhere(JSON.stringify(headers), listing);
  const names = html`<code>${Object.keys(headers).join(', ')}</code>`;
  if (link !== undefined)
    return html`<p class="headers-of">Headers</p><p class="traits">${link}: ${names}</p>`;
  return html`<p class="headers-of">Headers</p>${parameterList(
    entries.map(([name, header]) => ({ name, in: 'header', ...header })),
    'service',
  )}`;
}

function answerSample(status: string, { content = {} }: AnswerShape): Html[] {
  return Object.entries(content).flatMap(([type, one]) => {
    const name = type === 'text/event-stream' ? 'Events' : nameOf(one.schema ?? {});
    return examplesOf(one).map((value) =>
      sample(`${status} ${name}`, typeof value === 'string' ? 'text' : 'json', pretty(value)),
    );
  });
}

// The content of the envelope: `Contact`, `Contact list`, `Deal contact link result`.
function nameOf(schema: SchemaShape): string {
  const { data = {} } = flatten(schema).schema.properties ?? {};
  const { schema: whole } = flatten(data);
  const { component } = whole;
  if (component !== undefined) return spoken(component);
  const item = whole.items === undefined ? undefined : flatten(whole.items).schema.component;
  return item === undefined ? 'Response' : `${spoken(item)} list`;
}

// A component name as words, without its version: `V1Person`, `DealContactLinkResult`.
function spoken(component: string): string {
  const words = component.replace(/^V\d+/, '').split(/(?=[A-Z])/);
  return words.map((word, index) => (index === 0 ? word : word.toLowerCase())).join(' ');
}

function sample(title: string, kind: 'curl' | 'json' | 'text', text: string): Html {
  return html`<figure class="sample"><figcaption>${title}<button type="button" data-copy>Copy</button></figcaption><pre class="${kind}">${text}</pre></figure>`;
}

function pretty(value: JsonValue): string {
  return typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
}
