/** Replays recorded HTTP exchanges with sources through an HTTP server on loopback. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Recording } from '../../cli/recording/fixture.js';
import { createReplayer, type Replayed, replaySteps } from '../../cli/recording/replay.js';
import type { Egress } from '../../egress/types.js';

/**
 * Replays a recording with the current code of its connector.
 * @param egress sends all requests to the server, so it must allow 127.0.0.1. The path of each contains the URL that
 *   the connector requested
 * @returns the results, and requests that differ from the recording
 */
export async function replayOnLoopback(
  recording: Recording,
  egress: Pick<Egress, 'request'>,
): Promise<{ readonly outcomes: readonly Replayed[]; readonly problems: readonly string[] }> {
  const player = createReplayer(recording);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const body = Buffer.concat(parts).toString();
      const url = (request.url ?? '').slice(1);
      const answer = player.answer({ method: request.method ?? 'GET', url, headers, body: body === '' ? null : body });
      response.writeHead(answer.status, answer.headers).end(answer.bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const toServer: Pick<Egress, 'request'> = {
      request: (request) => egress.request({ ...request, url: `${origin}/${request.url}` }),
    };
    const outcomes = await replaySteps(recording, toServer, player.enter);
    return { outcomes, problems: player.problems() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Returns the recorded results in the form of `replayOnLoopback`. */
export const recordedOutcomes = ({ steps }: Recording): Replayed[] =>
  steps.map(({ name, outcome }) => ({ name, outcome }));
