/**
 * Setup file of every suite: fails a suite whose connectors sent a request that their provider's specification does not
 * allow, or whose emulator gave a connector an answer that differs from the provider's published schema. Loads the
 * tables of the specifications only in suites whose connectors send requests, because loading them takes a tenth of a
 * second.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

import { afterAll, afterEach, expect } from '@jest/globals';

import { SENT_REQUESTS, type SentRequest } from '../../connectors/sentRequests.js';
import { EMULATED_ANSWERS, type EmulatedAnswer } from '../emulators/emulator.js';

type Message = { readonly request: SentRequest } | { readonly answer: EmulatedAnswer };
type Check = (message: Message) => readonly string[];

const problems = new Set<string>();
/** Messages that arrived before the tables were loaded, in their order. */
const unchecked: Message[] = [];
let check: Check | null = null;

function receive(message: Message): void {
  if (check === null) unchecked.push(message);
  else for (const problem of check(message)) problems.add(problem);
}

const receiveRequest = (request: unknown): void => receive({ request: request as SentRequest });
const receiveAnswer = (answer: unknown): void => receive({ answer: answer as EmulatedAnswer });

/** Runs after each test, never during one: Jest fails if a test imports the same module at the same time. */
async function checkMessages(): Promise<void> {
  if (!unchecked.some((message) => 'request' in message)) return;
  const { problemsOfRequest } = await import('./checkRequests.js');
  const { recordRequest, problemsOfAnswer } = await import('./checkAnswers.js');
  check = (message) => {
    if ('answer' in message) return problemsOfAnswer(message.answer);
    recordRequest(message.request);
    return problemsOfRequest(message.request);
  };
  unchecked.splice(0).forEach(receive);
}

subscribe(SENT_REQUESTS, receiveRequest);
subscribe(EMULATED_ANSWERS, receiveAnswer);
afterEach(checkMessages);
afterAll(async () => {
  unsubscribe(SENT_REQUESTS, receiveRequest);
  unsubscribe(EMULATED_ANSWERS, receiveAnswer);
  await checkMessages();
  expect([...problems]).toEqual([]);
});
