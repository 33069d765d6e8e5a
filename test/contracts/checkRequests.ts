import { appendFileSync } from 'node:fs';

import type { SentRequest } from '../../connectors/sentRequests.js';
import { differences, locate } from './contract.js';
import { CONTRACTS } from './tables/index.js';

const { REQUESTS_SEEN: requestLog } = process.env;

/**
 * Returns in what a request of a connector differs from its provider's specification. REQUESTS_SEEN=FILE appends the
 * source, address, method and path of each request.
 */
export function problemsOfRequest(request: SentRequest): string[] {
  const located = locate(request);
  if (located === null) return [];
  const { source, method } = request;
  if (requestLog) appendFileSync(requestLog, `${JSON.stringify([source, located.address, method, located.path])}\n`);
  const contract = CONTRACTS.find((one) => one.source === source && one.address === located.address);
  return contract ? differences(contract, request, located).map((problem) => `${source}: ${problem}`) : [];
}
