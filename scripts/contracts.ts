/**
 * Writes the rules of operations from a provider's specification into a table in test/contracts/tables/:
 * `npm run contracts -- SPECIFICATION_FILE TABLE`.
 *
 * The table must exist and name the operations that the connector uses; their rules may be empty (`{}`). The script
 * replaces these rules and keeps all other content. It reads OpenAPI 2 and 3 and Google's discovery documents, as JSON
 * or YAML. Operations with a `source` of their own are kept.
 */
import { readFileSync, writeFileSync } from 'node:fs';

import { parse } from 'yaml';

import type { Contract, Operation, Rule } from '../test/contracts/contract.js';
import { CONTRACTS } from '../test/contracts/tables/index.js';

type Node = Readonly<Record<string, unknown>>;
const asNode = (value: unknown): Node => (typeof value === 'object' && value !== null ? (value as Node) : {});
const asTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((element) => element !== null).map(String) : [];

/** Returns the node that a reference names, or the node itself. */
function resolve(root: Node, value: unknown): Node {
  const node = asNode(value);
  const { $ref } = node;
  if (typeof $ref !== 'string') return node;
  const target = $ref.startsWith('#/')
    ? $ref
        .slice(2)
        .split('/')
        .reduce<unknown>((part, key) => asNode(part)[key.replaceAll('~1', '/')], root)
    : asNode(root['schemas'])[$ref];
  return resolve(root, target);
}

function ruleOf(root: Node, schemaOrReference: unknown, required: boolean): Rule {
  const schema = resolve(root, schemaOrReference);
  const [first, ...others] = Array.isArray(schema['anyOf'] ?? schema['oneOf'])
    ? ((schema['anyOf'] ?? schema['oneOf']) as unknown[])
    : [];
  // A schema with several alternatives is not checked: its rule has no type.
  const node = first !== undefined && others.length === 0 ? resolve(root, first) : first === undefined ? schema : {};
  const type = asTexts(Array.isArray(node['type']) ? node['type'] : [node['type'] ?? '']).find(
    (name) => name !== 'null',
  );
  const [min, max] = [node['minimum'], node['maximum']].map((limit) => (limit === undefined ? null : Number(limit)));
  const allowed = asTexts(node['enum'] ?? (node['const'] === undefined ? undefined : [node['const']]));
  const isList = node['repeated'] === true;
  return {
    ...(type && !isList ? { type } : {}),
    ...(min === null || min === undefined ? {} : { min }),
    ...(max === null || max === undefined ? {} : { max }),
    ...(allowed.length === 0 || isList ? {} : { enum: allowed }),
    ...(required ? { required: true as const } : {}),
  };
}

/** Returns the properties of a schema and of the schemas that it combines. */
function propertiesOf(root: Node, given: unknown): [string, unknown, boolean][] {
  const schema = resolve(root, given);
  const parts = Array.isArray(schema['allOf']) ? (schema['allOf'] as unknown[]) : [];
  const alternatives = [schema['anyOf'], schema['oneOf']].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const required = asTexts(schema['required']);
  return [
    ...Object.entries(asNode(schema['properties'])).map(([name, value]): [string, unknown, boolean] => [
      name,
      value,
      required.includes(name),
    ]),
    ...parts.flatMap((part) => propertiesOf(root, part)),
    ...alternatives.flatMap((part) =>
      propertiesOf(root, part).map(([name, value]): [string, unknown, boolean] => [name, value, false]),
    ),
  ];
}

const rulesOf = (root: Node, all: readonly (readonly [string, unknown, boolean])[]): Record<string, Rule> =>
  Object.fromEntries(all.map(([name, value, required]) => [name, ruleOf(root, value, required)]));

/** Returns an operation of OpenAPI 2 or 3. @param asForm whether the source also accepts parameters as a form */
function openApiOperation(root: Node, node: Node, pathNode: Node, asForm: boolean): Operation {
  const parameters = [pathNode['parameters'], node['parameters']]
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .map((parameter) => resolve(root, parameter));
  const parametersIn = (place: string, name: (text: string) => string = String): Record<string, Rule> =>
    rulesOf(
      root,
      parameters
        .filter((parameter) => parameter['in'] === place && parameter['name'] !== 'token')
        .map((parameter) => [
          name(String(parameter['name'])),
          parameter['schema'] ?? parameter,
          parameter['required'] === true,
        ]),
    );
  const content = asNode(asNode(resolve(root, node['requestBody']))['content']);
  const json = Object.entries(content).find(([type]) => type.startsWith('application/json'))?.[1];
  const query = parametersIn('query');
  const headers = Object.fromEntries(
    Object.entries(parametersIn('header', (text) => text.toLowerCase())).filter(([, rule]) => rule.required),
  );
  const bodySchema = asNode(json)['schema'];
  return {
    ...(asForm ? { body: { ...query, ...parametersIn('formData') } } : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(bodySchema === undefined ? {} : { body: rulesOf(root, propertiesOf(root, bodySchema)) }),
  };
}

/** Returns all methods of a discovery document, by method and path. */
function discoveryMethods(resource: Node): [string, Node][] {
  const ownMethods = Object.values(asNode(resource['methods'])).map((value): [string, Node] => {
    const method = asNode(value);
    return [`${String(method['httpMethod'])} ${String(method['flatPath'] ?? method['path'])}`, method];
  });
  return [
    ...ownMethods,
    ...Object.values(asNode(resource['resources'])).flatMap((inner) => discoveryMethods(asNode(inner))),
  ];
}

function discoveryOperation(root: Node, method: Node): Operation {
  const all = Object.entries(asNode(method['parameters'])).map(([name, value]) => ({ name, node: asNode(value) }));
  const query = all
    .filter(({ node }) => node['location'] === 'query')
    .map(({ name, node }): [string, unknown, boolean] => [name, node, node['required'] === true]);
  return { query: rulesOf(root, query) };
}

/** Extracts a table's operations from a specification. @throws Error for an operation that the specification lacks */
export function extract(contract: Contract, root: Node): Contract {
  const { prefix = '', base = '', asForm = false, operations } = contract;
  const extracted = Object.entries(operations).map(([name, existing]): [string, Operation] => {
    if (existing.source !== undefined) return [name, existing];
    const [method = '', fullPath = ''] = name.replace('+}', '}').split(' ');
    const path = fullPath.startsWith(base) ? fullPath.slice(base.length) : fullPath;
    if (root['discoveryVersion'] !== undefined) {
      const wanted = `${prefix}${path}`.replace(/^\//, '').replaceAll(/\{\+?\w+\}/g, '{}');
      const all = discoveryMethods(root);
      const node = all.find(([key]) => key.replaceAll(/\{\+?\w+\}/g, '{}') === `${method} ${wanted}`)?.[1];
      if (node === undefined) throw new Error(`The specification has no operation ${method} ${wanted}`);
      return [name, discoveryOperation(root, node)];
    }
    const pathNode = asNode(asNode(root['paths'])[`${prefix}${path}`]);
    const node = asNode(pathNode[method.toLowerCase()] ?? (asForm ? pathNode['get'] : undefined));
    if (Object.keys(node).length === 0)
      throw new Error(`The specification has no operation ${method} ${prefix}${path}`);
    return [name, openApiOperation(root, node, pathNode, asForm)];
  });
  const common = root['discoveryVersion'] === undefined ? [] : Object.entries(asNode(root['parameters']));
  return {
    ...contract,
    ...(common.length === 0
      ? {}
      : {
          common: rulesOf(
            root,
            common.map(([name, value]): [string, unknown, boolean] => [name, value, false]),
          ),
        }),
    operations: Object.fromEntries(extracted),
  };
}

const [file, table] = process.argv.slice(2);
const contract = CONTRACTS.find(({ name }) => name === table);
if (file === undefined || contract === undefined)
  throw new Error(`Usage: contracts SPECIFICATION_FILE TABLE; tables: ${CONTRACTS.map(({ name }) => name).join(', ')}`);
const next = extract(contract, parse(readFileSync(file, 'utf8')) as Node);
const text = `import type { Contract } from '../contract.js';\n\nexport const ${next.name}: Contract = ${JSON.stringify(next, null, 2)};\n`;
writeFileSync(new URL(`../test/contracts/tables/${next.name}.ts`, import.meta.url), text);
