import { expect, test } from '@jest/globals';

import { withDatabase } from '../../../support/dataSources.js';
import { type Catalogue, SOURCES } from '../catalogue.js';

/** What the suite's users handed over, looked for once all of them are done. */
export function secretRows(catalogue: Catalogue): void {
  test.each(SOURCES)('the secret of %s is nowhere at rest', async (type) => {
    const { service, stands } = catalogue;
    const rows: string[] = [];
    await withDatabase(service, async (connection) => {
      for (const { name } of await connection.listCollections())
        for await (const row of connection.collection(name).find()) rows.push(JSON.stringify(row));
    });
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => row.includes(stands[type].secret))).toEqual([]);
  });
}
