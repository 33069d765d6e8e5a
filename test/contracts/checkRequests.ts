/**
 * Setup file of every suite: fails a suite whose connectors sent a request that their provider's specification does not
 * allow. REQUESTS_SEEN=FILE appends the source, address, method and path of each request.
 */
import { appendFileSync } from 'node:fs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import { afterAll, expect } from '@jest/globals';

import { SENT_REQUESTS, type SentRequest } from '../../connectors/sentRequests.js';
import { differences, locate } from './contract.js';
import { CONTRACTS } from './tables/index.js';

const problems = new Set<string>();
const { REQUESTS_SEEN: requestLog } = process.env;

function check(message: unknown): void {
  const request = message as SentRequest;
  const located = locate(request);
  if (located === null) return;
  const { source, method } = request;
  if (requestLog) appendFileSync(requestLog, `${JSON.stringify([source, located.address, method, located.path])}\n`);
  const contract = CONTRACTS.find((one) => one.source === source && one.address === located.address);
  if (contract) for (const problem of differences(contract, request, located)) problems.add(`${source}: ${problem}`);
}

subscribe(SENT_REQUESTS, check);
afterAll(() => {
  unsubscribe(SENT_REQUESTS, check);
  expect([...problems]).toEqual([]);
});
