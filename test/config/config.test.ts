import type { Schema } from 'joi';
import { expect, test } from '@jest/globals';

import { ConfigError, loadConfig } from '../../config/config.js';
import { SETTINGS } from '../../config/settings.js';
import { everyRow } from '../support/everyRow.js';

/** Values that some number or switch among the settings takes and that are nobody's default. */
const OTHERS = ['7', '13', '77', '0.37', '3001', '70001', '777777', '20777777', 'true', 'false'];

const typeOf = (schema: Schema): string => (schema.describe() as { type: string }).type;
const rows = Object.entries(SETTINGS).filter(([, { schema }]) => ['number', 'boolean'].includes(typeOf(schema)));

/** What the service can not do without, and replicas enough for other write consistencies. */
const BASE = {
  QDRANT_REPLICAS: '50',
  DATA_DIR: '/nowhere',
  API_KEY: 'test-key-of-the-settings',
  SECRET_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
};

/** All that the settings say, without what is a function; null for a value that is refused. */
function read(env: Record<string, string>): string | null {
  try {
    return JSON.stringify(loadConfig({ ...BASE, ...env }));
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

test('each number and switch among the settings changes what the service is given, and nothing else does the same', async () => {
  const unchanged = read({});
  const seen = new Map<string, string>();
  await everyRow(
    rows,
    ([name]) => name,
    ([name]) => {
      const taken = OTHERS.map((value) => read({ [name]: value })).filter((text) => text !== null);
      const changed = taken.filter((text) => text !== unchanged);
      expect(changed).not.toEqual([]);
      for (const text of changed) {
        expect(seen.get(text) ?? name).toBe(name);
        seen.set(text, name);
      }
    },
  );
});
