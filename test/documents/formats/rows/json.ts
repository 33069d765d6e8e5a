import { Writable } from 'node:stream';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { stringify } from 'yaml';

import type { Row } from './row.js';

/** Writes a log as JSON lines. */
function log(): string {
  let lines = '';
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      lines += line.toString();
      done();
    },
  });
  const logger = pino({ base: null, timestamp: () => ',"time":"2024-02-09T03:10:00Z"' }, stream);
  logger.info({ boat: 'Ada', berth: 12 }, 'moored');
  logger.warn({ wind: { knots: 48, from: 'SW' } }, 'The "entrance" is closed');
  return lines;
}

const { EJSON, ObjectId, Long } = mongoose.mongo.BSON;
/** Returns records as a database exports them. */
const records = (): string =>
  EJSON.stringify(
    [
      { _id: new ObjectId('65c5a1b2c3d4e5f601234567'), boat: 'Ada', since: new Date('2019-05-01'), nights: 14 },
      {
        _id: new ObjectId('65c5a1b2c3d4e5f601234568'),
        boat: 'Bo',
        crew: [{ name: 'Zoë' }, { name: 'Eve' }],
        nights: Long.fromNumber(3),
      },
    ],
    { relaxed: true },
  );

/** Returns settings written by the YAML library, whose flow style is JSON. */
const settings = (): string =>
  stringify(
    {
      harbour: { name: 'Ballycotton', channels: [14, 16], open: true, pilot: null },
      'fees a night': { small: 10, large: 25.5 },
    },
    { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE', collectionStyle: 'flow' },
  );

export const JSON_ROW: Row = {
  good: [
    {
      by: 'the BSON library, records of a database',
      from: records,
      text: `_id.$oid: 65c5a1b2c3d4e5f601234567
boat: Ada
since.$date: 2019-05-01T00:00:00Z
nights: 14

_id.$oid: 65c5a1b2c3d4e5f601234568
boat: Bo
crew.0.name: Zoë
crew.1.name: Eve
nights: 3`,
      chunks: {
        size: 70,
        parts: [
          ['_id.$oid: 65c5a1b2c3d4e5f601234567\nboat: Ada', 'nights: 14'],
          ['_id.$oid: 65c5a1b2c3d4e5f601234568\nboat: Bo', 'nights: 3'],
        ],
      },
    },
    {
      by: 'pino, a log as JSON lines',
      from: log,
      text: `level: 30
time: 2024-02-09T03:10:00Z
boat: Ada
berth: 12
msg: moored

level: 40
time: 2024-02-09T03:10:00Z
wind.knots: 48
wind.from: SW
msg: The "entrance" is closed`,
    },
    {
      by: 'yaml, settings',
      from: settings,
      text: `harbour.name: Ballycotton
harbour.channels: 14, 16
harbour.open: true
fees a night.small: 10
fees a night.large: 25.5`,
    },
  ],
  broken: { make: () => '{"a": [1, 2', fault: /^broken_content: / },
  empty: () => '[]',
  encrypted: null,
  wrong: { ending: 'csv' },
};
