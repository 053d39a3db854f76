// One operation: the line that opens it on the page at /docs, and its description, samples and fields.
import type { Data, JsonValue } from '../../db/model/json.ts';
import { curlLine } from './client/languages/curl.ts';
import { addressOf, KEY_HEADERS } from './client/request.ts';
import type { Entry, Group } from './entries.ts';
import { fieldList, parameterList } from './fields.ts';
import { tryForm } from './forms.ts';
import { type Html, html } from './html.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { type AnswerShape, examplesOf, type Parameter } from './shapes.ts';
import { answerTitle } from './titles.ts';

const LEVEL = 4;
const PLACES: [Parameter['in'], title: string][] = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
];
const [FIRST_KEY_HEADER = ''] = Object.keys(KEY_HEADERS);

/**
 * An operation, folded, with a link to its content, which takes the place of the link when it is loaded.
 * @param folder the path of the folder with the pages of groups
 */
export function operationLine(entry: Entry, { anchor }: Group, folder: string): Html {
  return html`<details class="operation"><summary>${operationHeading(entry)}</summary><div class="opened" id="${entry.id}"><a href="${folder}/${anchor}#${entry.id}">Parameters, fields, errors and samples</a></div></details>
`;
}

/** Method, title and path. */
export function operationHeading({ method, path, title, isDeprecated }: Entry): Html {
  const badge = isDeprecated ? html`<span class="old">deprecated</span>` : undefined;
  return html`<h4>${methodBadge(method)}<span class="title">${title}</span> <code class="path">${path}</code>${badge}</h4>`;
}

/**
 * All that is told and shown of an operation.
 * @param base the URL of the service as far as it is known
 */
export function operationContent(entry: Entry, base: string): Html {
  const { id, description, body, isKeyless, successes, errors } = entry;
  const request = curlLine(exampleRequest(entry, base), isKeyless ? undefined : FIRST_KEY_HEADER);
  return html`<div class="opened" id="${id}">
<div class="about">${markdown(description, LEVEL)}</div>
<div class="shown">
${sample('Request', 'curl', request)}
${tryForm(entry)}
${wholeBody(entry)}
${successes.map(([status, answer]) => answerSample(status, answer))}
</div>
<div class="told">
${PLACES.map(([place, name]) => parametersIn(entry, place, name))}
${body && html`<h5>Body</h5>${fieldList(body.schema, 'client')}`}
<h5>Responses</h5>${successes.map(([status, answer]) => success(status, answer))}
<h5>Errors</h5>${errors.map(([status, answer]) => failure(status, answer))}
</div>
</div>`;
}

/** A method as shown beside a path or title. */
export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span> `;
}

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
  const sent = body?.minimum === undefined ? {} : { body: pretty(body.minimum) };
  return { method, url: addressOf(base, path, params, query), headers: [], ...sent };
}

// The request above shows only what is needed.
function wholeBody({ body }: Entry): Html | undefined {
  if (body?.example === undefined || pretty(body.example) === pretty(body.minimum ?? null)) return undefined;
  return html`<details class="more"><summary>Body with more fields</summary>${sample('Body', 'json', pretty(body.example))}</details>`;
}

function success(status: string, answer: AnswerShape): Html {
  const [content] = Object.values(answer.content ?? {});
  return html`<details class="answer"><summary><code>${status}</code> ${inlineMarkdown(answer.description ?? '')}</summary>
${content?.schema && fieldList(content.schema, 'service')}${headerList(answer)}</details>`;
}

function failure(status: string, answer: AnswerShape): Html {
  const [content] = Object.values(answer.content ?? {});
  const examples = content === undefined ? [] : examplesOf(content);
  const headers = Object.keys(answer.headers ?? {}).map((name) => html` <code>${name}</code>`);
  return html`<details class="answer error"><summary><code>${status}</code> ${inlineMarkdown(answer.description ?? '')}</summary>
${examples.map((value) => html`<pre class="json">${pretty(essenceOf(value))}</pre>`)}
${headers.length > 0 ? html`<p class="headers-of">Headers:${headers}</p>` : undefined}</details>`;
}

// Shows only the error, since the rest of the envelope is the same for all.
function essenceOf(value: JsonValue): JsonValue {
  const { error } = value as Data;
  return error === undefined ? value : { error };
}

function headerList({ headers = {} }: AnswerShape): Html | undefined {
  const entries = Object.entries(headers);
  if (entries.length === 0) return undefined;
  return html`<p class="headers-of">Headers</p>${parameterList(
    entries.map(([name, header]) => ({ name, in: 'header', ...header })),
    'service',
  )}`;
}

function answerSample(status: string, { content = {} }: AnswerShape): Html[] {
  return Object.entries(content).flatMap(([type, one]) => {
    const title = `${status} ${answerTitle(type, one.schema ?? {})}`;
    return examplesOf(one).map((value) =>
      sample(title, typeof value === 'string' ? 'text' : 'json', pretty(value)),
    );
  });
}

function sample(title: string, kind: 'curl' | 'json' | 'text', text: string): Html {
  return html`<figure class="sample"><figcaption><span>${title}</span><button type="button" data-copy>Copy</button></figcaption><pre class="${kind}">${text}</pre></figure>`;
}

function pretty(value: JsonValue): string {
  return typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
}
