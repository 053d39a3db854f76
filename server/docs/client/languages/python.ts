// A request in Python, without any package.
import { type HttpRequest, isStream, KEY_HEADERS, valueIn } from '../request.ts';

const WORDS: Record<string, string> = { true: 'True', false: 'False', null: 'None' };
const INDENT = '    ';

/** The program; the key is a variable of the environment. */
export function python(request: HttpRequest, keyHeader: string | undefined): string {
  const { method, url, body } = request;
  const headers = request.headers.map(([name, value]) => `${text(name)}: ${text(value)}`);
  if (keyHeader !== undefined) headers.unshift(`${text(keyHeader)}: ${keyOf(KEY_HEADERS[keyHeader] ?? '')}`);
  if (body !== undefined) headers.push('"Content-Type": "application/json"');
  const lines = [
    `${text(url)},`,
    `method=${text(method)},`,
    ...(headers.length === 0 ? [] : ['headers={', ...headers.map((one) => `${INDENT}${one},`), '},']),
    ...(body === undefined ? [] : [`data=${dataOf(body)},`]),
  ];
  const modules = [
    ...(body !== undefined && valueIn(body) !== undefined ? ['json'] : []),
    ...(keyHeader === undefined ? [] : ['os']),
    'urllib.error',
    'urllib.request',
  ];
  const output = isStream(request)
    ? `for line in response:\n${INDENT}print(line.decode(), end="", flush=True)`
    : 'print(response.status, response.read().decode())';
  return `import ${modules.join(', ')}

request = urllib.request.Request(
${lines.map((line) => INDENT + line).join('\n')}
)
try:
${INDENT}response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
${INDENT}response = error
${output}
`;
}

function keyOf(prefix: string): string {
  return prefix === '' ? 'os.environ["CRM_API_KEY"]' : `${text(prefix)} + os.environ["CRM_API_KEY"]`;
}

function dataOf(body: string): string {
  const value = valueIn(body);
  return value === undefined ? `${text(body)}.encode()` : `json.dumps(${literal(value, INDENT)}).encode()`;
}

/** A JSON value as Python writes it. */
function literal(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? text(value) : (WORDS[String(value)] ?? JSON.stringify(value));
  const isList = Array.isArray(value);
  const inner = `${indent}${INDENT}`;
  const parts = Object.entries(value).map(
    ([name, one]) => `${inner}${isList ? '' : `${text(name)}: `}${literal(one, inner)},\n`,
  );
  const [open, close] = isList ? '[]' : '{}';
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join('')}${indent}${close}`;
}

// A text in JSON is one in Python too, except for characters that JSON writes as two halves.
function text(value: string): string {
  return JSON.stringify(value);
}
