import { describe, expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../../api/extensions.js';
import { openApiDocument } from '../../../api/openapi/document.js';
import { operations } from '../../../api/routes.js';
import { API_TAGS } from '../../../api/schemas/apiTags.js';
import { type ReferenceDocument, referenceGaps, addsInformation } from '../../../scripts/reference/gaps.js';
import { type Schema, publishedDocument } from '../../support/contract.js';
import { everyRow } from '../../support/everyRow.js';

const document = openApiDocument() as unknown as ReferenceDocument & {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};
const contract = publishedDocument as unknown as ReferenceDocument;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
}
const operationOf = ({ paths }: ReferenceDocument, method: string, path: string): Operation | undefined =>
  paths[path]?.[method] as unknown as Operation | undefined;

test('everything is described and has an example, as CONTRIBUTING.md ("An operation") requires', () => {
  // `npm run docs:reference` prints the same list.
  expect(referenceGaps(document)).toEqual([]);
});

describe('operations', () => {
  test('have the id and the tag of the contract; those not in the contract have a short id and a described tag', () =>
    everyRow(
      operations,
      ({ method, path }) => `${method} ${path}`,
      ({ method, path, operationId, tag }) => {
        const inContract = operationOf(contract, method, path);
        expect(operationOf(document, method, path)).toMatchObject({ operationId, tags: [tag] });
        expect(tag in API_TAGS).toBe(true);
        if (inContract)
          expect({ operationId, tag }).toEqual({ operationId: inContract.operationId, tag: inContract.tags[0] });
        else expect(operationId).toMatch(/^[a-z][a-z_]{2,59}$/);
      },
    ));

  test('have unique ids', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('have tags that are all used, and described by more than their names', () => {
    const webhookTags = Object.values(document.webhooks ?? {}).flatMap(
      ({ post }) => (post as unknown as Operation).tags,
    );
    // Client generators create a file per tag and per webhook, so their names must differ.
    expect(webhookTags.filter((name) => name in API_TAGS)).toEqual([]);
    for (const { name, description } of document.tags) {
      expect({ name, isDescribed: addsInformation(description, name) }).toEqual({ name, isDescribed: true });
      expect([...operations.map(({ tag }) => tag), ...webhookTags]).toContain(name);
    }
  });

  test('name an existing operation as the replacement of a deprecated one', () => {
    const names = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    for (const { replacedBy } of operations) if (replacedBy !== undefined) expect(names).toContain(replacedBy);
  });
});

describe('names of schemas', () => {
  /** Schemas with different names: the name in our document, by the name in the contract. */
  const RENAMED: Readonly<Record<string, string>> = {
    OrderDirV2: 'OrderDir',
    TextEmbeddingGenerators: 'EmbeddingGenerators',
    MultiModalEmbeddingGenerators: 'EmbeddingGenerators',
  };
  /** Lists whose values are one enum per source in the contract, and a single enum in our document. */
  const ONE_ENUM = ['item_types', 'file_types_at_source', 'auto_synced_source_types'];

  const nameOf = ({ $ref }: Schema): string | null => $ref?.split('/').at(-1) ?? null;
  /** Follows the references of a schema. */
  const resolved = (from: ReferenceDocument, schema: Schema): Schema => {
    const name = nameOf(schema);
    return name === null ? schema : resolved(from, from.components.schemas[name] as Schema);
  };
  /** Returns the alternatives of a schema, or the schema itself if it has none. */
  const alternativesOf = (schema: Schema): readonly Schema[] =>
    (schema.anyOf ?? schema.oneOf ?? [schema]).flatMap((alternative) =>
      alternative === schema ? [alternative] : alternativesOf(alternative),
    );

  /** Reports each part of a schema that has a name in the contract, and another or none in our document. */
  function namingDifferences(mine: Schema, other: Schema, at: string, seen: readonly string[] = []): string[] {
    const ours = alternativesOf(mine).map((part) => ({ name: nameOf(part), schema: resolved(document, part) }));
    return alternativesOf(other).flatMap((part) => {
      const name = nameOf(part);
      const schema = resolved(contract, part);
      if (schema.properties === undefined && schema.enum === undefined) {
        const [list] = ours.filter((own) => own.schema.items);
        return schema.items && list?.schema.items
          ? namingDifferences(list.schema.items, schema.items, `${at}[]`, seen)
          : [];
      }
      const expectedName = name === null ? null : (RENAMED[name] ?? name);
      const namesake = ours.find((own) => own.name === expectedName);
      if (expectedName !== null && !namesake)
        return [`${at}: ${name} is ${ours.map((own) => own.name ?? 'unnamed').join(', ')}`];
      if (!namesake || name === null || seen.includes(name)) return [];
      return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
        const own = namesake.schema.properties?.[key];
        return own && !ONE_ENUM.includes(key) ? namingDifferences(own, property, `${at}.${key}`, [...seen, name]) : [];
      });
    });
  }

  test('are those of the contract, for all schemas that it names', () =>
    everyRow(
      operations.filter(({ method, path }) => operationOf(contract, method, path)),
      ({ method, path }) => `${method} ${path}`,
      ({ method, path }) => {
        const schemasOf = ({ paths }: ReferenceDocument): readonly (Schema | undefined)[] => {
          const { requestBody, responses } = paths[path]![method]!;
          const contents = [requestBody?.content, responses['200']?.content];
          return contents.map((content) => content?.['application/json']?.schema as Schema | undefined);
        };
        const ours = schemasOf(document);
        const differences = schemasOf(contract).flatMap((schema, index) => {
          const own = ours[index];
          return schema && own ? namingDifferences(own, schema, index === 0 ? 'request' : 'response') : [];
        });
        expect(differences).toEqual([]);
      },
    ));

  test('are reported if a schema of ours lacks the name that the contract has', () => {
    const { UserFile: _removed, ...schemas } = contract.components.schemas;
    expect(Object.keys(schemas).length).toBe(Object.keys(contract.components.schemas).length - 1);
    expect(
      namingDifferences({ type: 'object', properties: {} }, { $ref: '#/components/schemas/UserFile' }, 'x'),
    ).toEqual(['x: UserFile is unnamed']);
  });
});

test('every event has a webhook with its payload', () => {
  expect(Object.keys(document.webhooks ?? {})).toHaveLength(25);
  expect(document.components.schemas['FileReadyPayload']).toMatchObject({
    properties: { webhook_type: { enum: ['FILE_READY'] }, obj: { $ref: '#/components/schemas/FileReadyObject' } },
  });
  expect(document.components.schemas['FileReadyObject']).toMatchObject({
    properties: { object_type: { enum: ['FILE'] } },
  });
});

test('exactly the operations of api/extensions.ts are marked as extensions', () => {
  const marked = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      (operation as { 'x-allotrope-extension'?: true })['x-allotrope-extension']
        ? [`${method.toUpperCase()} ${path}`]
        : [],
    ),
  );
  expect(marked.toSorted()).toEqual(Object.keys(EXTENSIONS.operations).toSorted());
});

describe('gaps of a reference', () => {
  const described =
    'Lists the things of a caller, newest first, and says how many there are. Use it to page through all of them; the next page starts at next_cursor.';
  const good: ReferenceDocument = {
    paths: {
      '/things': {
        get: {
          summary: 'Lists things.',
          description: described,
          parameters: [{ name: 'limit', in: 'query', description: 'Largest number of things per page.' }],
          responses: {
            200: {
              description: 'One page of the things, with their number.',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' }, example: {} } },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        Thing: {
          description: 'What a caller has stored before.',
          properties: { id: { description: 'Number that identifies the thing.' } },
        },
      },
    },
  };

  test('do not exist if everything is described', () => {
    expect(referenceGaps(good)).toEqual([]);
  });

  test('are missing descriptions, and descriptions that only repeat the name', () => {
    const operation = good.paths['/things']!['get']!;
    const gapsWith = (changed: object): string[] =>
      referenceGaps({ ...good, paths: { '/things': { get: { ...operation, ...changed } } } });
    expect(gapsWith({ description: 'Lists things.' })).toEqual(['GET /things: description']);
    expect(gapsWith({ summary: '' })).toEqual(['GET /things: summary']);
    expect(gapsWith({ parameters: [{ name: 'limit', in: 'query', description: 'The limit.' }] })).toEqual([
      'GET /things: query parameter limit',
    ]);
    const unexplained = { type: 'object', properties: { a: { type: 'string' } } };
    const { responses } = operation;
    const found = responses['200'];
    expect(
      gapsWith({ responses: { 200: { ...found, content: { 'application/json': { schema: unexplained } } } } }),
    ).toEqual(['GET /things: example response', 'GET /things: response .a']);
    expect(gapsWith({ responses: { 200: { ...found, description: 'Success' } } })).toEqual([
      'GET /things: response 200',
    ]);
    const components = {
      schemas: {
        Thing: {
          properties: {
            thing_id: { description: 'Id of the thing.' },
            list: { items: { properties: { b: {} } } },
            owner: { $ref: '#/components/schemas/Owner' },
          },
        },
      },
    };
    expect(referenceGaps({ ...good, components })).toEqual([
      'schema Thing',
      'schema Thing.list',
      'schema Thing.list[].b',
      'schema Thing.owner',
      'schema Thing.thing_id',
    ]);
  });
});
