import { beforeAll, describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';

import { createTemporalClient } from '../../../../dispatch/client.js';
import { loadConfig } from '../../../../config.js';
import { testEngines } from '../../../support/engines.js';
import { withDatabase } from '../../../support/dataSources.js';
import { type Catalogue, SOURCES } from '../catalogue.js';

/** Histories that are fetched at once. */
const AT_ONCE = 8;

/** A value of any depth as text; bytes as what they say. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return String(part);
    return part instanceof Uint8Array ? Buffer.from(part).toString() : part;
  });

/** A text as it may be written elsewhere, wherever it begins in what is put into base64. */
const shapesOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  ...[0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + secret)
      .toString('base64')
      // What neighbours have a part in.
      .slice(before === 0 ? 0 : before + 1, -4),
  ),
];

/** Every row there is. */
async function rowsOf({ service }: Catalogue): Promise<string[]> {
  const rows: string[] = [];
  await withDatabase(service, async (connection) => {
    for (const { name } of await connection.listCollections())
      for await (const { bytes, ...row } of connection.collection(name).find()) {
        rows.push(JSON.stringify(row));
        if (bytes !== undefined) rows.push(textOf((bytes as { buffer?: Uint8Array }).buffer ?? bytes));
      }
  });
  return rows;
}

/** Every event of every workflow. */
async function historiesOf({ service }: Catalogue): Promise<string[]> {
  const { temporal } = loadConfig(service.env);
  const client = createTemporalClient({ ...temporal, address: temporal.address ?? testEngines().temporalAddress });
  const limit = pLimit(AT_ONCE);
  const fetched: Promise<string>[] = [];
  const { workflow, connection } = client;
  for await (const { workflowId, runId } of workflow.list({ query: `TaskQueue = "${service.taskQueue}"` }))
    fetched.push(limit(async () => textOf(await workflow.getHandle(workflowId, runId).fetchHistory())));
  const histories = await Promise.all(fetched);
  await connection.close();
  return histories;
}

/** What the suite's users handed over, looked for once all of them are done. */
export function secretRows(catalogue: Catalogue): void {
  describe('what its users handed over', () => {
    const places = new Map<string, readonly string[]>();
    const planted = () =>
      SOURCES.flatMap((type) => catalogue.stands[type].allSecrets?.() ?? [catalogue.stands[type].secret]);

    beforeAll(async () => {
      places.set('rows of MongoDB', await rowsOf(catalogue));
      places.set('histories of Temporal', await historiesOf(catalogue));
      places.set('lines of the log', catalogue.said.log);
      places.set('answers', catalogue.said.answers);
    });

    // Each with something that is there: a search that finds nothing at all would prove nothing.
    test.each([
      ['rows of MongoDB', 'dataSourceId'],
      ['histories of Temporal', 'syncItems'],
      ['lines of the log', 'listing of items ended'],
      ['answers', 'data_source_external_id'],
    ])('is not in the %s', (place, there) => {
      const texts = places.get(place) ?? [];
      expect(texts.length).toBeGreaterThan(10);
      expect(texts.some((text) => text.includes(there))).toBe(true);
      expect(planted().length).toBeGreaterThanOrEqual(SOURCES.length);
      for (const secret of planted())
        for (const shape of shapesOf(secret))
          expect(texts.filter((text) => text.includes(shape)).map((text) => text.slice(0, 500))).toEqual([]);
    });
  });
}
