import type { SentRequest } from '../../connectors/sentRequests.js';
import type { EmulatedAnswer } from '../emulators/emulator.js';
import { ANSWERS } from './answers/index.js';
import { answerProblems } from './answers/table.js';
import { type Contract, locate } from './contract.js';
import { CONTRACTS } from './tables/index.js';

/** The requests of connectors to sources with published schemas, by method and URL. */
const sentRequests = new Map<string, { readonly contract: Contract; readonly path: string }>();
const keyOf = (method: string, url: string): string => `${method} ${new URL(url).href}`;

/** Records a request of a connector, so that the answer to it is compared. */
export function recordRequest(request: SentRequest): void {
  const located = locate(request);
  const contract = CONTRACTS.find(({ source, address }) => source === request.source && address === located?.address);
  if (located && contract) sentRequests.set(keyOf(request.method, request.url), { contract, path: located.path });
}

/**
 * Returns in what an answer of an emulator differs from the provider's published schema. Broken answers that a test
 * injects are not compared.
 */
export function problemsOfAnswer(answer: EmulatedAnswer): string[] {
  const request = sentRequests.get(keyOf(answer.method, answer.url));
  const table = ANSWERS.find(({ name }) => name === request?.contract.name);
  if (!request || !table) return [];
  const { contract, path } = request;
  return answerProblems(table, contract, path, answer).map((problem) => `${contract.source}: ${problem}`);
}
