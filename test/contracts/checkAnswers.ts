/**
 * Setup file of every suite: fails a suite whose emulator gave a connector an answer that differs from the provider's
 * published schema. Broken answers that a test injects are not compared.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import { afterAll, expect } from '@jest/globals';

import { SENT_REQUESTS, type SentRequest } from '../../connectors/sentRequests.js';
import { EMULATED_ANSWERS, type EmulatedAnswer } from '../emulators/emulator.js';
import { ANSWERS } from './answers/index.js';
import { answerProblems } from './answers/table.js';
import { type Contract, locate } from './contract.js';
import { CONTRACTS } from './tables/index.js';

const problems = new Set<string>();
/** The requests of connectors to sources with published schemas, by method and address. */
const sentRequests = new Map<string, { readonly contract: Contract; readonly path: string }>();
const keyOf = (method: string, url: string): string => `${method} ${new URL(url).href}`;

function recordRequest(message: unknown): void {
  const request = message as SentRequest;
  const located = locate(request);
  const contract = CONTRACTS.find(({ source, address }) => source === request.source && address === located?.address);
  if (located && contract) sentRequests.set(keyOf(request.method, request.url), { contract, path: located.path });
}

function check(message: unknown): void {
  const answer = message as EmulatedAnswer;
  const request = sentRequests.get(keyOf(answer.method, answer.url));
  const table = ANSWERS.find(({ name }) => name === request?.contract.name);
  if (!request || !table) return;
  for (const problem of answerProblems(table, request.contract, request.path, answer))
    problems.add(`${request.contract.source}: ${problem}`);
}

subscribe(SENT_REQUESTS, recordRequest);
subscribe(EMULATED_ANSWERS, check);
afterAll(() => {
  unsubscribe(SENT_REQUESTS, recordRequest);
  unsubscribe(EMULATED_ANSWERS, check);
  expect([...problems]).toEqual([]);
});
