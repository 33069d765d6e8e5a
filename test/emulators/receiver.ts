/** A webhook receiver whose reactions a test controls. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { TIME_LIMIT_MS } from '../support/waitFor.js';

export interface Received {
  /** Raw request body. */
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed `payload`. */
  readonly event: {
    readonly webhook_type: string;
    readonly obj: { object_type: string; object_id: string | string[] | null; additional_information: unknown };
    readonly customer_id: string;
    readonly timestamp: string;
  };
}

/**
 * `hang`: no answer. `close`: closes the connection without an answer. A number: the status; 3xx answers have a
 * Location header.
 */
export type Reaction = number | 'hang' | 'close';

export interface Receiver {
  readonly url: string;
  /** All deliveries in order, whatever the reaction. */
  readonly received: Received[];
  /** Event type and object id, such as `FILE_READY 7`, of each delivery answered with 2xx, in order. */
  accepted(): string[];
  /** Event type and object id, such as `FILE_READY 7`, of each delivery. */
  arrived(): string[];
  /** Sets the reaction to all later deliveries. */
  reactWith(how: (received: Received) => Reaction): void;
  /**
   * Waits until `count` deliveries were answered with 2xx, and returns all of them.
   * @throws when they do not arrive in time
   */
  waitForAccepted(count: number, timeoutMs?: number): Promise<string[]>;
  close(): Promise<void>;
}

const nameOf = ({ event: { webhook_type, obj } }: Received): string =>
  `${webhook_type} ${[obj.object_id].flat().join(',')}`;

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const accepted: Received[] = [];
  let reaction: (received: Received) => Reaction = () => 200;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const raw = Buffer.concat(parts).toString();
      const { payload } = JSON.parse(raw) as { payload: string };
      const delivery: Received = { raw, headers: request.headers, event: JSON.parse(payload) as Received['event'] };
      received.push(delivery);
      const outcome = reaction(delivery);
      if (outcome === 'hang') return;
      if (outcome === 'close') return void request.socket.destroy();
      if (outcome < 300) accepted.push(delivery);
      response
        .writeHead(outcome, outcome >= 300 && outcome < 400 ? { location: `${receiver.url}/elsewhere` } : {})
        .end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    accepted: () => accepted.map(nameOf),
    arrived: () => received.map(nameOf),
    reactWith(how) {
      reaction = how;
    },
    async waitForAccepted(count, timeoutMs = TIME_LIMIT_MS) {
      const deadline = Date.now() + timeoutMs;
      while (accepted.length < count) {
        if (Date.now() > deadline)
          throw new Error(`accepted ${accepted.length} of ${count} deliveries: ${receiver.accepted().join('; ')}`);
        await sleep(20);
      }
      return receiver.accepted();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
