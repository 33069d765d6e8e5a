import { expect, test } from '@jest/globals';

import { cli } from '../support/cli.js';
import { everyRow } from '../support/everyRow.js';

/** Arguments, and the name of the unknown command. */
const UNKNOWN: [args: string[], name: string][] = [
  [['nothing'], 'nothing'],
  [['nothing', 'more'], 'nothing'],
  [['org'], 'org'],
  [['org', 'delete'], 'org delete'],
  [['org', '--json'], 'org'],
];

test('names both words of an unknown command if the first begins other commands', () =>
  everyRow(
    UNKNOWN,
    ([args]) => args.join(' '),
    async ([args, name]) => {
      const { code, stderr } = await cli({}, ...args);
      expect([code, stderr.split('\n')[0]]).toEqual([2, `There is no command ${name}.`]);
    },
  ));
