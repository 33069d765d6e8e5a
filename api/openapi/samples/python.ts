import { KEY_VARIABLE, type SampleRequest } from './request.js';

/** Returns a text as a Python string literal: a JSON string is also a valid Python literal. */
const quoted = (text: string): string => JSON.stringify(text);

/** Returns a JSON value as a Python expression, in lines that are indented by `depth` levels of four spaces. */
function expression(value: unknown, depth: number): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const items = Array.isArray(value)
    ? value.map((element) => expression(element, depth + 1))
    : Object.entries(value).map(([name, member]) => `${quoted(name)}: ${expression(member, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  const indent = '    '.repeat(depth);
  return `${open}\n${items.map((item) => `${indent}    ${item},\n`).join('')}${indent}${close}`;
}

function argumentsOf({ url, sendsKey, headers, body, file, answer }: SampleRequest): string[] {
  const headerLines = [
    ...(sendsKey ? [`"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}",`] : []),
    // The package `requests` sets the content-type of a JSON body itself.
    ...Object.entries(headers).flatMap(([name, value]) =>
      name === 'Content-Type' ? [] : [`${quoted(name)}: ${quoted(value)},`],
    ),
  ];
  return [
    `${quoted(url)},`,
    ...(headerLines.length === 0 ? [] : ['headers={', ...headerLines.map((line) => `    ${line}`), '},']),
    ...(body === undefined ? [] : [`json=${expression(body, 1)},`]),
    ...(file === null ? [] : [`files={"file": open(${quoted(file)}, "rb")},`]),
    ...(answer === 'events' ? ['stream=True,'] : ['timeout=60,']),
  ];
}

const ANSWERS = {
  json: ['print(response.json())'],
  bytes: ['with open("content", "wb") as content:', '    content.write(response.content)'],
  events: ['for line in response.iter_lines(decode_unicode=True):', '    print(line)'],
} as const;

/** Returns a request as a Python program that uses the package requests. */
export const pythonSample = (request: SampleRequest): string =>
  [
    ...(request.sendsKey ? ['import os', ''] : []),
    'import requests',
    '',
    `response = requests.${request.method.toLowerCase()}(`,
    ...argumentsOf(request).map((line) => `    ${line}`),
    ')',
    'response.raise_for_status()',
    ...ANSWERS[request.answer],
  ].join('\n');
