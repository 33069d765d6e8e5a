import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import type { Example } from '../../api/openapi/examples.js';

interface Content {
  readonly schema: object;
}
interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly schema?: { readonly type?: unknown };
}
interface Described {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

/** An operation of the document, with its method and path. */
export interface DocumentedCall {
  readonly method: string;
  readonly path: string;
  readonly described: Described;
}

/** Returns all operations of the document. */
export const documentedCallsOf = (document: object): DocumentedCall[] =>
  Object.entries((document as { paths: Record<string, Record<string, Described>> }).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ method, path, described })),
  );

/** Returns a function that validates examples against the schemas of their operation, and returns the errors. */
export function createExampleCheck(document: object): (place: DocumentedCall, example: Example) => readonly string[] {
  const { components } = document as { readonly components: object };
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, binary: true, uuid: true } });
  const compiled = new Map<object, ValidateFunction>();
  const faultsOf = (name: string, schema: object | undefined, value: unknown): string[] => {
    if (schema === undefined) return value === undefined ? [] : [`${name}: the operation does not define it`];
    if (value === undefined) return [];
    const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${name}${instancePath} ${message}`);
  };
  const jsonOf = (content: Readonly<Record<string, Content>> | undefined) => content?.['application/json']?.schema;
  return ({ described }, { parameters = {}, request, response }) => [
    ...faultsOf('request', jsonOf(described.requestBody?.content), request),
    ...faultsOf('response', jsonOf(described.responses['200']?.content), response),
    ...Object.entries(parameters).flatMap(([name, value]) =>
      faultsOf(`parameter ${name}`, described.parameters?.find((parameter) => parameter.name === name)?.schema, value),
    ),
  ];
}
