/** Finds missing explanations in the API reference (/openapi.json). */

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly contentSchema?: Schema;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Described {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly $ref?: string;
    readonly name: string;
    readonly in: string;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly description?: string; readonly content?: Readonly<Record<string, Content>> }
    >
  >;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

/** The parts of the document that are read here. */
export interface ReferenceDocument {
  readonly paths: Paths;
  readonly webhooks?: Paths;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Minimum number of words of an operation's description. */
const OPERATION_WORDS = 20;
/** Minimum number of words of any other description that are not in the name of the described field. */
const NEW_WORDS = 4;

const JSON_TYPE = 'application/json';

const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z0-9']+/g) ?? [];

/** Returns whether a description adds at least NEW_WORDS words to the name of its field. */
export function addsInformation(description: string | undefined, name: string): boolean {
  const nameWords = new Set(wordsOf(name));
  return new Set(wordsOf(description ?? '').filter((word) => !nameWords.has(word))).size >= NEW_WORDS;
}

/**
 * Returns the undescribed properties of a schema. References are not followed: their schemas are checked separately.
 */
function ofSchema(schema: Schema, path: string): string[] {
  const { additionalProperties: others } = schema;
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((part) => ofSchema(part, path));
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    // A referenced schema describes its values, but not the purpose of this property.
    ...(addsInformation(property.description, name) ? [] : [`${path}.${name}`]),
    ...ofSchema(property, `${path}.${name}`),
  ]);
  return [
    ...parts,
    ...properties,
    ...(schema.items ? ofSchema(schema.items, `${path}[]`) : []),
    ...(typeof others === 'object' ? ofSchema(others, `${path}{}`) : []),
    ...(schema.contentSchema ? ofSchema(schema.contentSchema, path) : []),
  ];
}

function ofOperation(name: string, { summary = '', description = '', ...operation }: Described): string[] {
  const body = operation.requestBody?.content[JSON_TYPE];
  const answer = operation.responses['200']?.content?.[JSON_TYPE];
  const isEnough = wordsOf(description).length >= OPERATION_WORDS && addsInformation(description, summary);
  return [
    ...(summary === '' ? [`${name}: summary`] : []),
    ...(isEnough ? [] : [`${name}: description`]),
    ...(operation.parameters ?? []).flatMap((parameter) =>
      parameter.$ref !== undefined || addsInformation(parameter.description, parameter.name)
        ? []
        : [`${name}: ${parameter.in} parameter ${parameter.name}`],
    ),
    ...Object.entries(operation.responses).flatMap(([status, { $ref, description: text }]) =>
      $ref !== undefined || addsInformation(text, summary) ? [] : [`${name}: response ${status}`],
    ),
    ...(body ? ofSchema(body.schema, `${name}: request `) : []),
    ...(answer ? ofSchema(answer.schema, `${name}: response `) : []),
    ...(body && body.example === undefined ? [`${name}: example request`] : []),
    ...(answer && answer.example === undefined ? [`${name}: example response`] : []),
  ];
}

/**
 * Returns a line for each operation, parameter, response, property and schema whose description is missing or too
 * short, and for each missing summary and example.
 */
export function referenceGaps({ paths, webhooks = {}, components }: ReferenceDocument): string[] {
  const operations = [...Object.entries(paths), ...Object.entries(webhooks)].flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => ofOperation(`${method.toUpperCase()} ${path}`, operation)),
  );
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    ...(addsInformation(schema.description, name) ? [] : [`schema ${name}`]),
    ...ofSchema(schema, `schema ${name}`),
  ]);
  return [...new Set([...operations, ...schemas])].toSorted();
}
