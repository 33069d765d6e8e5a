/**
 * Replays the recordings of accounts, test/fixtures/recordings/: the connector sends the same requests, and returns the
 * same results.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { fileOf, readRecordings, RECORDINGS } from '../../cli/recording/folder.js';
import { type Recording, STEPS } from '../../cli/recording/fixture.js';
import type { Egress } from '../../egress/types.js';
import { recordedOutcomes, replayOnLoopback } from '../support/replayServer.js';
import { loopbackEgress } from './account.js';

const recordings = [...readRecordings(RECORDINGS)];
let egress: Egress;
beforeAll(() => {
  egress = loopbackEgress();
});
afterAll(() => egress.close());

describe.each(recordings)('%s', (name, recording) => {
  test('is named after its source, has all steps, and states whether the account is real or emulated', () => {
    expect(`${RECORDINGS}/${name}`).toBe(fileOf(recording.source));
    expect(recording.steps.map((step) => step.name)).toEqual(recording.hasChanges ? STEPS : STEPS.slice(0, 3));
    expect(recording.recordedOn).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(['real', 'emulator']).toContain(recording.account);
  });

  test('gives the same results when the connector runs with its responses', async () => {
    const { outcomes, problems } = await replayOnLoopback(recording, egress);
    expect(problems).toEqual([]);
    expect(outcomes).toEqual(recordedOutcomes(recording));
  });
});

describe('a replay', () => {
  const [, sample] = recordings[0]!;
  const modifiedCopy = (change: (copy: Recording) => void): Recording => {
    const copy = structuredClone(sample);
    change(copy);
    return copy;
  };
  const exchangesIn = ({ steps }: Recording) =>
    steps[2]!.exchanges as unknown as {
      request: { url: string; headers: Record<string, string> };
      response: { body: { json: Record<string, unknown> } };
    }[];

  test('reports a request that was not recorded, and a recorded one that was not sent', async () => {
    const copy = modifiedCopy((one) => (exchangesIn(one)[0]!.request.url += '&other=1'));
    const { url } = exchangesIn(copy)[0]!.request;
    const { problems } = await replayOnLoopback(copy, egress);
    expect(problems).toEqual([expect.stringContaining('was not recorded'), `read: GET ${url} was not requested`]);
  });

  test('reports a request with a different header than recorded', async () => {
    const copy = modifiedCopy((one) => (exchangesIn(one)[0]!.request.headers['accept'] = 'text/html'));
    expect((await replayOnLoopback(copy, egress)).problems).toHaveLength(2);
  });

  test('gives another result after another response', async () => {
    const copy = modifiedCopy((one) => (exchangesIn(one)[0]!.response.body.json['title'] = 'Another title'));
    const { outcomes, problems } = await replayOnLoopback(copy, egress);
    expect(problems).toEqual([]);
    expect(outcomes).not.toEqual(recordedOutcomes(copy));
    expect(JSON.stringify(outcomes)).toContain('Another title');
  });
});
