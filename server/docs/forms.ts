// The forms of the page: one to try each operation, and one to enter the keys they are sent with.
import type { JsonValue } from '../../db/model/json.ts';
import { KEY_HEADERS } from './client/request.ts';
import type { Entry, Version } from './entries.ts';
import { type Html, html } from './html.ts';
import { examplesOf, type Parameter, type SchemaShape } from './shapes.ts';
import { flatten, typeOf, valuesOf } from './words.ts';

const BODY_ROWS_MAX = 24;

/** The form of an operation. */
export function tryForm({ id, api, method, path, isKeyless, parameters, body }: Entry): Html {
  const version = api.slice(1);
  return html`<details class="try"><summary>Try it</summary>
<form data-method="${method}" data-path="${path}"${isKeyless ? undefined : html` data-api="${api}"`}>
${
  isKeyless
    ? html`<p>This request needs no key.</p>`
    : html`<p>Sent with your version ${version} key. <button type="button" data-keys="${api}">Add API key</button></p>`
}
${parameters.map((parameter) => input(id, parameter))}
${body === undefined ? undefined : bodyInput(id, body.minimum)}
<button type="submit">Send request</button>
<p class="status" role="status"></p>
<div class="answered"></div>
</form></details>`;
}

/** The dialog for API keys, closed; it has a field for each version, and the page keeps the keys in memory only. */
export function keysDialog(versions: readonly Version[]): Html {
  return html`<dialog id="keys" aria-labelledby="keys-title"><form method="dialog">
<h2 id="keys-title">Add API key</h2>
<p>Kept in this page's memory until you leave or reload it, and sent to this service only.</p>
${versions.map(
  ({ anchor, title }) => html`<label for="key-${anchor}">${title} key</label>
<input id="key-${anchor}" name="${anchor}" type="password" autocomplete="off" autocapitalize="off" spellcheck="false">
`,
)}
<fieldset><legend>Sent as</legend>
${Object.entries(KEY_HEADERS).map(
  ([name, prefix], index) =>
    html`<label><input type="radio" name="header" value="${name}"${index === 0 ? ' checked' : ''}> <code>${name}: ${prefix}…</code></label>`,
)}
</fieldset>
<menu><li><button type="button" data-forget>Forget both</button></li><li><button type="submit">Done</button></li></menu>
</form></dialog>`;
}

function input(operationId: string, parameter: Parameter): Html {
  const { name, in: place, required, schema = {} } = parameter;
  const id = `${operationId}.${place}.${name}`;
  const attributes = html`id="${id}" name="${place}:${name}"${required === true ? ' required' : undefined}`;
  const note = required === true ? 'required' : place === 'header' ? 'header' : undefined;
  const values = typeOf(schema) === 'boolean' ? [true, false] : valuesOf(schema);
  const field = values.length === 0 ? textField(parameter, attributes) : choice(schema, values, attributes);
  return html`<label for="${id}"><code>${name}</code>${note && html` <span>${note}</span>`}</label>
${field}
`;
}

function textField(parameter: Parameter, attributes: Html): Html {
  const example = examplesOf(parameter)[0] ?? flatten(parameter.schema ?? {}).schema.default;
  const hint = example === undefined ? undefined : html` placeholder="${String(example)}"`;
  return html`<input ${attributes} type="text"${hint} autocomplete="off" autocapitalize="off" spellcheck="false">`;
}

function choice(schema: SchemaShape, values: JsonValue[], attributes: Html): Html {
  const initial = flatten(schema).schema.default;
  const unset = initial === undefined ? '–' : `default: ${initial}`;
  return html`<select ${attributes}><option value="">${unset}</option>${values.map(
    (value) => html`<option>${String(value)}</option>`,
  )}</select>`;
}

function bodyInput(operationId: string, example: JsonValue | undefined): Html {
  const id = `${operationId}.body`;
  const text = example === undefined ? '' : JSON.stringify(example, null, 2);
  const rows = Math.min(BODY_ROWS_MAX, text.split('\n').length + 1);
  return html`<label for="${id}">Body <span>JSON</span></label>
<textarea id="${id}" name="body" rows="${rows}" autocomplete="off" autocapitalize="off" spellcheck="false">${text}</textarea>
`;
}
