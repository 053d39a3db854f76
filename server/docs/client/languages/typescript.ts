// A request in TypeScript, with fetch alone.
import { type HttpRequest, isStream, KEY_HEADERS, valueIn } from '../request.ts';

/** The program; the key is a variable of the environment. */
export function typeScript(request: HttpRequest, keyHeader: string | undefined): string {
  const { method, url, body } = request;
  const headers = request.headers.map(([name, value]) => `${quoted(name)}: ${quoted(value)}`);
  if (keyHeader !== undefined)
    headers.unshift(`${quoted(keyHeader)}: \`${KEY_HEADERS[keyHeader]}\${process.env.CRM_API_KEY}\``);
  if (body !== undefined) headers.push("'Content-Type': 'application/json'");
  const parts = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: {\n${headers.map((one) => `    ${one},\n`).join('')}  }`]),
    ...(body === undefined ? [] : [`body: ${bodyOf(body)}`]),
  ];
  const options = parts.length === 0 ? '' : `, {\n${parts.map((part) => `  ${part},\n`).join('')}}`;
  const output = isStream(request)
    ? 'for await (const chunk of response.body ?? []) process.stdout.write(chunk);'
    : 'console.log(response.status, await response.text());';
  return `const response = await fetch(${quoted(url)}${options});\n${output}\n`;
}

function bodyOf(body: string): string {
  const value = valueIn(body);
  if (value === undefined) return quoted(body);
  return `JSON.stringify(${JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')})`;
}

function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  return `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
