// What the page makes of schemas in both dialects, of Markdown, and of requests as lines for curl.
import { describe, expect, test } from 'bun:test';
import { curlLine } from '../../server/docs/client/languages/curl.ts';
import { addressOf } from '../../server/docs/client/request.ts';
import { fieldList } from '../../server/docs/fields.ts';
import { html } from '../../server/docs/html.ts';
import { markdown, sectionsOf } from '../../server/docs/markdown.ts';
import { descriptionIn, type SchemaShape } from '../../server/docs/shapes.ts';
import { limitsOf, typeOf, valuesOf } from '../../server/docs/words.ts';

describe('a schema in words', () => {
  test.each<[string, SchemaShape]>([
    ['string', { type: 'string' }],
    ['string or null', { type: 'string', nullable: true }],
    ['string or null', { type: ['string', 'null'] }],
    [
      'string (date-time) or integer',
      { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'integer' }] },
    ],
    ['object or null', { anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] }],
    ['object or null', { oneOf: [{ type: 'object' }, { enum: [null] }] }],
    ['object or null', { allOf: [{ type: 'object', properties: {} }], nullable: true }],
    ['list of strings (email)', { type: 'array', items: { type: 'string', format: 'email' } }],
    ['string', { enum: ['open', 'won'] }],
    ['string', { const: 'list' }],
    ['any value', {}],
  ])('%s', (words, schema) => {
    expect(typeOf(schema)).toBe(words);
  });

  test.each<[string[], SchemaShape]>([
    [['1 to 255 characters'], { type: 'string', minLength: 1, maxLength: 255 }],
    [['not empty'], { type: 'string', minLength: 1 }],
    [['at most 10,000 characters'], { anyOf: [{ type: 'string', maxLength: 10_000 }, { type: 'null' }] }],
    [['0 to 1'], { type: ['number', 'null'], minimum: 0, maximum: 1 }],
    [['at least 0'], { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }],
    [
      ['within ±(2^53−1)'],
      { type: 'number', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    ],
    [
      ['1 to 50 items', 'each at most 9 characters'],
      { type: 'array', minItems: 1, maxItems: 50, items: { maxLength: 9 } },
    ],
    [['at most 100 keys', 'read-only'], { type: 'object', maxProperties: 100, readOnly: true }],
  ])('%p', (limits, schema) => {
    expect(limitsOf(schema)).toEqual(limits);
  });

  test('values, without null', () => {
    expect(valuesOf({ anyOf: [{ enum: ['open', 'won', null] }, { type: 'null' }] })).toEqual(['open', 'won']);
    expect(valuesOf({ type: 'array', items: { const: 7 } })).toEqual([7]);
  });

  test('fields of every object in it, and what a list is', () => {
    const object = (name: string) => ({ type: 'object', properties: { [name]: {} } });
    const items = { anyOf: [object('one'), object('other')] };
    const { text } = fieldList({ type: 'array', maxItems: 100, items }, 'client');
    for (const part of ['list of objects', 'at most 100 items', 'one</code>', 'other</code>'])
      expect(text).toContain(part);
  });

  test('what a client must send, and what the service may leave out', () => {
    const schema = {
      properties: { name: { pattern: '\\S' }, title: { default: 7, example: 7 } },
      required: ['name'],
    };
    const parts = (writer: 'client' | 'service') =>
      fieldList(schema, writer).text.match(
        /<code>(name|title)|required|optional|for example|not blank|default/g,
      );
    expect(parts('client')).toEqual([
      '<code>name',
      'required',
      'required',
      'not blank',
      '<code>title',
      'default',
    ]);
    expect(parts('service')).toEqual(['<code>name', 'not blank', '<code>title', 'optional', 'default']);
  });
});

test('references are followed, and cut where they come round', () => {
  const node = { type: 'object', properties: { inner: { $ref: '#/components/schemas/a~1b' } } };
  const document = {
    a: { $ref: '#/components/schemas/a~1b', description: 'own' },
    components: { schemas: { 'a/b': node } },
  };
  expect(descriptionIn(document)).toMatchObject({
    a: { type: 'object', description: 'own', properties: { inner: {} } },
  } as never);
});

describe('texts', () => {
  test('HTML in a template is escaped unless it was made by one', () => {
    const name = `<img src=x onerror="alert('1')">`;
    expect(html`<p title="${name}">${[name, html`<b>&</b>`, undefined, 7]}</p>`.text).toBe(
      '<p title="&lt;img src=x onerror=&quot;alert(&#x27;1&#x27;)&quot;&gt;">&lt;img src=x onerror=&quot;alert(&#x27;1&#x27;)&quot;&gt;<b>&</b>7</p>',
    );
  });

  test('HTML and odd links in Markdown stay text', () => {
    const text =
      'a <b onclick=x>b</b> [link](javascript:alert(1)) ![image](https://x.example/i.png)\n\n<script>1</script>';
    const made = markdown(text, 2).text;
    expect(made).not.toMatch(/<(b|script|img|a)\b/);
    expect(made).toContain('&lt;script&gt;');
    expect(markdown('[guide](#lists) `code`', 2).text).toBe(
      '<p><a href="#lists">guide</a> <code>code</code></p>\n',
    );
  });

  test('headings come after those of the page', () => {
    const [first, second] = sectionsOf('Before.\n\n## One\n\nText.\n\n### Inner\n', 3);
    expect(first).toMatchObject({ title: '' });
    expect(second?.title).toBe('One');
    expect(second?.body.text).toContain('<h4>Inner</h4>');
  });
});

describe('a line for curl', () => {
  test('leaves the key to the shell, and quotes everything else', () => {
    const url = addressOf('https://crm.example/crm/', '/api/v2/deals/{id}', { id: 'a/b' }, [['q', "it's"]]);
    expect(url).toBe('https://crm.example/crm/api/v2/deals/a%2Fb?q=it%27s');
    const line = curlLine(
      { method: 'PATCH', url, headers: [['Idempotency-Key', '$x']], body: `{"a": "o'b"}` },
      'Authorization',
    );
    expect(line).toBe(
      [
        "curl -X PATCH 'https://crm.example/crm/api/v2/deals/a%2Fb?q=it%27s'",
        '-H "Authorization: Bearer $CRM_API_KEY"',
        "-H 'Idempotency-Key: $x'",
        `--json '{"a": "o'\\''b"}'`,
      ].join(' \\\n  '),
    );
  });

  test('says only what curl does not do by itself', () => {
    const url = addressOf('http://127.0.0.1:4000', '/api/v2/deals/{id}', {}, []);
    expect(curlLine({ method: 'GET', url, headers: [] }, undefined)).toBe(
      `curl 'http://127.0.0.1:4000/api/v2/deals/{id}'`,
    );
    expect(curlLine({ method: 'POST', url: 'u', headers: [], body: '1' }, undefined)).not.toContain('-X');
    expect(curlLine({ method: 'DELETE', url: 'u', headers: [] }, 'X-Service-Api-Key')).toBe(
      `curl -X DELETE 'u' \\\n  -H "X-Service-Api-Key: $CRM_API_KEY"`,
    );
  });
});
