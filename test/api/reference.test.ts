import { describe, expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../api/extensions.js';
import { openApiDocument } from '../../api/openapi/document.js';
import { operations } from '../../api/routes.js';
import { API_TAGS } from '../../api/schemas/apiTags.js';
import { type ReferenceDocument, referenceGaps, addsInformation } from '../../scripts/reference/gaps.js';
import { type Schema, publishedDocument } from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';

const document = openApiDocument() as unknown as ReferenceDocument & {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
};
const contract = publishedDocument as unknown as ReferenceDocument;

interface Named {
  readonly operationId: string;
  readonly tags: readonly string[];
}
const namedOf = ({ paths }: ReferenceDocument, method: string, path: string): Named | undefined =>
  paths[path]?.[method] as unknown as Named | undefined;

test('everything is described and has an example, as CONTRIBUTING.md ("An operation") requires', () => {
  // `npm run docs:reference` prints the same list.
  expect(referenceGaps(document)).toEqual([]);
});

describe('operations', () => {
  test('each has the id and the tag of the contract; those not in the contract have a short id and a described tag', () =>
    everyRow(
      operations,
      ({ method, path }) => `${method} ${path}`,
      ({ method, path, operationId, tag }) => {
        const inContract = namedOf(contract, method, path);
        expect(namedOf(document, method, path)).toMatchObject({ operationId, tags: [tag] });
        expect(tag in API_TAGS).toBe(true);
        if (inContract)
          expect({ operationId, tag }).toEqual({ operationId: inContract.operationId, tag: inContract.tags[0] });
        else expect(operationId).toMatch(/^[a-z][a-z_]{2,59}$/);
      },
    ));

  test('ids are unique', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('every tag has operations, and a description beyond its name', () => {
    const deliveries = Object.values(document.webhooks ?? {}).flatMap(({ post }) => (post as unknown as Named).tags);
    // Client generators create a file per tag and per webhook, so their names must differ.
    expect(deliveries.filter((name) => name in API_TAGS)).toEqual([]);
    for (const { name, description } of document.tags) {
      expect({ name, isDescribed: addsInformation(description, name) }).toEqual({ name, isDescribed: true });
      expect([...operations.map(({ tag }) => tag), ...deliveries]).toContain(name);
    }
  });

  test('the replacement of a deprecated operation exists', () => {
    const names = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    for (const { replacedBy } of operations) if (replacedBy !== undefined) expect(names).toContain(replacedBy);
  });
});

describe('names of schemas', () => {
  /** Our schemas that replace several of the contract, by the names in the contract. */
  const OTHERS: Readonly<Record<string, string>> = {
    OrderDirV2: 'OrderDir',
    TextEmbeddingGenerators: 'EmbeddingGenerators',
    MultiModalEmbeddingGenerators: 'EmbeddingGenerators',
  };
  /** Lists whose values are one enum per source in the contract, and a single enum in our document. */
  const ONE_ENUM = ['item_types', 'file_types_at_source', 'auto_synced_source_types'];

  const nameOf = ({ $ref }: Schema): string | null => $ref?.split('/').at(-1) ?? null;
  const whole = (from: ReferenceDocument, schema: Schema): Schema => {
    const name = nameOf(schema);
    return name === null ? schema : whole(from, from.components.schemas[name] as Schema);
  };
  const parts = (schema: Schema): readonly Schema[] =>
    (schema.anyOf ?? schema.oneOf ?? [schema]).flatMap((alternative) =>
      alternative === schema ? [alternative] : parts(alternative),
    );

  /** Returns the contract's names for all parts of a schema that have another name, or none, in our document. */
  function differing(mine: Schema, other: Schema, at: string, seen: readonly string[] = []): string[] {
    const ours = parts(mine).map((part) => ({ name: nameOf(part), schema: whole(document, part) }));
    return parts(other).flatMap((part) => {
      const name = nameOf(part);
      const schema = whole(contract, part);
      if (schema.properties === undefined && schema.enum === undefined) {
        const [list] = ours.filter((own) => own.schema.items);
        return schema.items && list?.schema.items ? differing(list.schema.items, schema.items, `${at}[]`, seen) : [];
      }
      const expectedName = name === null ? null : (OTHERS[name] ?? name);
      const namesake = ours.find((own) => own.name === expectedName);
      if (expectedName !== null && !namesake)
        return [`${at}: ${name} is ${ours.map((own) => own.name ?? 'unnamed').join(', ')}`];
      if (!namesake || name === null || seen.includes(name)) return [];
      return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
        const own = namesake.schema.properties?.[key];
        return own && !ONE_ENUM.includes(key) ? differing(own, property, `${at}.${key}`, [...seen, name]) : [];
      });
    });
  }

  test('are those of the contract, for all schemas that the contract names', () =>
    everyRow(
      operations.filter(({ method, path }) => namedOf(contract, method, path)),
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
          return schema && own ? differing(own, schema, index === 0 ? 'request' : 'response') : [];
        });
        expect(differences).toEqual([]);
      },
    ));

  test('a missing name is reported', () => {
    const { UserFile: _removed, ...schemas } = contract.components.schemas;
    expect(Object.keys(schemas).length).toBe(Object.keys(contract.components.schemas).length - 1);
    expect(differing({ type: 'object', properties: {} }, { $ref: '#/components/schemas/UserFile' }, 'x')).toEqual([
      'x: UserFile is unnamed',
    ]);
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

test('extensions are marked: operations by api/extensions.ts', () => {
  const marked = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      (operation as { 'x-allotrope-extension'?: true })['x-allotrope-extension']
        ? [`${method.toUpperCase()} ${path}`]
        : [],
    ),
  );
  expect(marked.toSorted()).toEqual(Object.keys(EXTENSIONS.operations).toSorted());
});

describe('gaps', () => {
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

  test('a document that explains everything has none', () => {
    expect(referenceGaps(good)).toEqual([]);
  });

  test('a missing description, or one that repeats the name, is a gap', () => {
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
