import { KEY_VARIABLE, type SampleRequest } from './request.js';

const quoted = (text: string): string => JSON.stringify(text);

/** Returns a value as an expression, whose further lines are indented by two more spaces. */
const expression = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');

const ANSWERS = {
  json: ['console.log(await response.json());'],
  bytes: ['await writeFile("content", Buffer.from(await response.arrayBuffer()));'],
  events: [
    'const decoder = new TextDecoder();',
    'for await (const bytes of response.body ?? []) process.stdout.write(decoder.decode(bytes, { stream: true }));',
  ],
} as const;

function optionsOf({ method, sendsKey, headers, body, file }: SampleRequest): string[] {
  const headerLines = [
    ...(sendsKey ? [`Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,`] : []),
    ...Object.entries(headers).map(([name, value]) => `${quoted(name)}: ${quoted(value)},`),
  ];
  return [
    ...(method === 'GET' ? [] : [`method: ${quoted(method)},`]),
    ...(headerLines.length === 0 ? [] : ['headers: {', ...headerLines.map((line) => `  ${line}`), '},']),
    ...(body === undefined ? [] : [`body: JSON.stringify(${expression(body)}),`]),
    ...(file === null ? [] : ['body: form,']),
  ];
}

/** Returns a request as a TypeScript module for Node. */
export function typescriptSample(request: SampleRequest): string {
  const { url, file, answer } = request;
  const options = optionsOf(request);
  const imports = [...(file === null ? [] : ['readFile']), ...(answer === 'bytes' ? ['writeFile'] : [])];
  return [
    ...(imports.length === 0 ? [] : [`import { ${imports.join(', ')} } from "node:fs/promises";`, '']),
    ...(file === null
      ? []
      : [
          'const form = new FormData();',
          `form.set("file", new Blob([await readFile(${quoted(file)})]), ${quoted(file)});`,
        ]),
    options.length === 0
      ? `const response = await fetch(${quoted(url)});`
      : `const response = await fetch(${quoted(url)}, {\n${options.map((line) => `  ${line}\n`).join('')}});`,
    'if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);',
    ...ANSWERS[answer],
  ].join('\n');
}
