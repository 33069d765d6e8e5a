import { spawnSync } from 'node:child_process';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';

import { readExamples } from '../../../api/openapi/examples.js';
import { openApiDocument } from '../../../api/openapi/document.js';
import { curlSample } from '../../../api/openapi/samples/curl.js';
import { pythonSample } from '../../../api/openapi/samples/python.js';
import { typescriptSample } from '../../../api/openapi/samples/typescript.js';
import { operations } from '../../../api/routes.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../../engines/venv.js';
import { everyRow } from '../../support/everyRow.js';

interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}
interface Described {
  readonly parameters?: readonly { readonly name?: string; readonly in?: string; readonly required?: boolean }[];
  readonly 'x-codeSamples': readonly Sample[];
}

const { paths } = openApiDocument() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};
const examples = readExamples();
const rows = operations.map((operation) => {
  const described = paths[operation.path]![operation.method]!;
  const sourceOf = (label: string): string =>
    described['x-codeSamples'].find((sample) => sample.label === label)?.source ?? '';
  return { ...operation, described, sourceOf, example: examples[operation.operationId] ?? {} };
});
type Row = (typeof rows)[number];
const nameOf = ({ method, path }: Row): string => `${method.toUpperCase()} ${path}`;

/** A request as a sample sends it. */
interface Sent {
  readonly method: string;
  readonly url: string;
  /** Keyed by the lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Name of the uploaded file. */
  readonly file: string | null;
}

const KEY = 'key $1 `x`';

/**
 * Runs commands with a `curl` that only prints its arguments, each followed by a zero byte, and \x01 after a command.
 */
const RUN_CURL = `
curl() { printf '%s\\0' "$@"; }
for source in "$@"; do (set -eu; eval "$source"); printf '\\x01'; done
`;

/** Runs curl commands in a shell, and returns the requests that curl would send. */
function sentByCurl(sources: readonly string[]): Sent[] {
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', RUN_CURL, 'bash', ...sources], {
    env: { ...process.env, API_KEY: KEY },
  });
  expect([status, stderr.toString()]).toEqual([0, '']);
  const printed = stdout.toString().split('\x01').slice(0, -1);
  return printed.map((words) => requestOf(words.split('\0').slice(0, -1)));
}

/** Returns the request that curl sends when it is called with these arguments. */
function requestOf(words: readonly string[]): Sent {
  const valuesOf = (option: string): string[] => words.filter((_word, index) => words[index - 1] === option);
  const [data] = valuesOf('--data');
  const [form] = valuesOf('--form');
  return {
    method: valuesOf('--request')[0] ?? (data === undefined && form === undefined ? 'GET' : 'POST'),
    url: words.find((word) => word.startsWith('https://'))!,
    headers: Object.fromEntries(
      valuesOf('--header').map((header) => {
        const [name = '', ...value] = header.split(': ');
        return [name.toLowerCase(), value.join(': ')];
      }),
    ),
    body: data === undefined ? undefined : (JSON.parse(data) as unknown),
    file: form === undefined ? null : /^file=@"(.*)"$/.exec(form)![1]!,
  };
}

/** Compiles a TypeScript module, runs it with a `fetch` that only records the request, and returns that request. */
async function sentByTypescript(source: string): Promise<Sent> {
  const parsed = ts.transpileModule(source, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
  });
  expect(parsed.diagnostics).toEqual([]);
  const code = parsed.outputText.replaceAll(/^import .*$/gm, '');
  const sent: Sent[] = [];
  const answer = { ok: true, json: () => ({}), arrayBuffer: () => new ArrayBuffer(0), body: [] };
  const fetched = (url: string, options: RequestInit = {}) => {
    const { method = 'GET', headers = {}, body } = options;
    sent.push({
      ...{ method, url },
      headers: Object.fromEntries(new Headers(headers)),
      body: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined,
      file: body instanceof FormData ? (body.get('file') as File).name : null,
    });
    return answer;
  };
  await (runInNewContext(`(async () => {${code}})()`, {
    ...{ fetch: fetched, FormData, Blob, Buffer, TextDecoder },
    process: { env: { API_KEY: KEY }, stdout: { write: () => true } },
    console: { log: () => undefined },
    readFile: () => new Uint8Array(),
    writeFile: () => undefined,
  }) as Promise<void>);
  return sent[0]!;
}

/** Parses programs with Python, and returns the requests that they send, according to their syntax trees. */
const READ_PYTHON = `
import ast, json, sys

def read(source):
    tree = ast.parse(source)
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {'os', 'requests'}
    assert used <= names, f'not imported: {used - names}'
    call = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    assert ast.unparse(call.func.value) == 'requests'
    keywords = {one.arg: one.value for one in call.keywords}
    def value(node):
        if isinstance(node, ast.JoinedStr):
            return ''.join(value(part) for part in node.values)
        if isinstance(node, ast.FormattedValue):
            assert ast.unparse(node.value) == "os.environ['API_KEY']"
            return sys.argv[1]
        return ast.literal_eval(node)
    headers = keywords.get('headers')
    return {
        'method': call.func.attr.upper(),
        'url': value(call.args[0]),
        'headers': {value(k).lower(): value(v) for k, v in zip(headers.keys, headers.values)} if headers else {},
        **({'body': value(keywords['json'])} if 'json' in keywords else {}),
        'file': value(keywords['files'].values[0].args[0]) if 'files' in keywords else None,
    }

print(json.dumps([read(source) for source in json.load(sys.stdin)]))
`;

let python = '';
beforeAll(async () => {
  ({ python } = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR }));
});
function sentByPython(sources: readonly string[]): Sent[] {
  const { status, stdout, stderr } = spawnSync(python, ['-c', READ_PYTHON, KEY], { input: JSON.stringify(sources) });
  expect([status, stderr.toString()]).toEqual([0, '']);
  return JSON.parse(stdout.toString()) as Sent[];
}

/**
 * Checks a sent request against the declaration and the example of its operation.
 * @param writesType whether the sample itself sets the content type of a JSON body
 */
function expectSent({ method, path, auth, takesFile, described, example }: Row, sent: Sent, writesType: boolean): void {
  const url = new URL(sent.url);
  const { parameters = {}, request } = example;
  expect(url.origin).toBe('https://api.example.com');
  const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
  const inPath = pattern.exec(url.pathname);
  expect(inPath).not.toBeNull();
  const values = { ...inPath?.groups, ...Object.fromEntries(url.searchParams) };
  for (const [name, value] of Object.entries(parameters)) expect(decodeURIComponent(values[name]!)).toBe(String(value));
  const declaredParameters = (described.parameters ?? []).filter(
    (parameter) => parameter.in === 'query' || parameter.in === 'path',
  );
  for (const name of Object.keys(values)) expect(declaredParameters.map((parameter) => parameter.name)).toContain(name);
  for (const parameter of declaredParameters.filter(({ required }) => required))
    expect(Object.keys(values)).toContain(parameter.name);
  const actsForUser = ['user', 'reader', 'either', 'issuing'].includes(auth);
  expect({ ...sent, url: '' }).toEqual({
    method: method.toUpperCase(),
    url: '',
    headers: {
      ...(auth === 'open' ? {} : { authorization: `Bearer ${KEY}` }),
      ...(actsForUser ? { 'customer-id': 'user-42' } : {}),
      ...(request !== undefined && writesType ? { 'content-type': 'application/json' } : {}),
    },
    body: request,
    file: takesFile ? (example.response as { name: string }).name : null,
  });
}

describe('every operation has a sample that parses and sends its example', () => {
  test('in curl', () => {
    const sent = sentByCurl(rows.map((row) => row.sourceOf('curl')));
    return everyRow(rows, nameOf, (row, index) => expectSent(row, sent[index]!, true));
  });

  test('in TypeScript', () =>
    everyRow(rows, nameOf, async (row) => expectSent(row, await sentByTypescript(row.sourceOf('TypeScript')), true)));

  test('in Python', () => {
    const sent = sentByPython(rows.map((row) => row.sourceOf('Python')));
    return everyRow(rows, nameOf, (row, index) => expectSent(row, sent[index]!, false));
  });

  test('with quotes and other signs unchanged', async () => {
    const text = 'it\'s "quoted" $HOME `x` ${y} {z} \\n\n\u2028 é 😀';
    const body = { [text]: [text, true, false, null, 1.5, [], {}], nested: { [text]: text } };
    const request = {
      ...{ method: 'POST', url: `https://api.example.com/x?q=${encodeURIComponent(text)}`, sendsKey: true },
      ...{ headers: { 'customer-id': "o'hara" }, body, file: null, answer: 'json' as const },
    };
    const expected = { method: 'POST', url: request.url, body, file: null };
    expect(sentByCurl([curlSample(request)])[0]).toMatchObject(expected);
    expect(await sentByTypescript(typescriptSample(request))).toMatchObject(expected);
    expect(sentByPython([pythonSample(request)])[0]).toMatchObject(expected);
  });
});

test('samples make the document larger by less than a third', () => {
  const whole = JSON.stringify(openApiDocument()).length;
  const samples = rows.reduce((sum, { described }) => sum + JSON.stringify(described['x-codeSamples']).length, 0);
  expect(samples / (whole - samples)).toBeLessThan(1 / 3);
});
