/** A customer's receiver of webhooks that behaves as a test wants it to. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { PATIENCE_MS } from '../support/waitFor.js';

export interface Received {
  /** The bytes of the body. */
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
  /** The inner document. */
  readonly event: {
    readonly webhook_type: string;
    readonly obj: { object_type: string; object_id: string | string[] | null; additional_information: unknown };
    readonly customer_id: string;
    readonly timestamp: string;
  };
}

/** `hang`: says nothing. `close`: hangs up without an answer. A number: the status; of 3xx, with a place to go on to. */
export type Reaction = number | 'hang' | 'close';

export interface Receiver {
  readonly url: string;
  /** Whatever came, in its order, whatever was made of it. */
  readonly received: Received[];
  /** `FILE_READY 7` of each that was answered with 2xx, in order. */
  taken(): string[];
  /** `FILE_READY 7` of each that came. */
  came(): string[];
  /** How it reacts from now on. */
  react(how: (received: Received) => Reaction): void;
  /** Waits until a number of deliveries were taken; answers them. @throws when they do not come */
  tookSoon(count: number, timeoutMs?: number): Promise<string[]>;
  close(): Promise<void>;
}

const nameOf = ({ event: { webhook_type, obj } }: Received): string =>
  `${webhook_type} ${[obj.object_id].flat().join(',')}`;

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const good: Received[] = [];
  let reaction: (received: Received) => Reaction = () => 200;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const raw = Buffer.concat(parts).toString();
      const { payload } = JSON.parse(raw) as { payload: string };
      const delivery: Received = { raw, headers: request.headers, event: JSON.parse(payload) as Received['event'] };
      received.push(delivery);
      const how = reaction(delivery);
      if (how === 'hang') return;
      if (how === 'close') return void request.socket.destroy();
      if (how < 300) good.push(delivery);
      response.writeHead(how, how >= 300 && how < 400 ? { location: `${receiver.url}/elsewhere` } : {}).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    taken: () => good.map(nameOf),
    came: () => received.map(nameOf),
    react(how) {
      reaction = how;
    },
    async tookSoon(count, timeoutMs = PATIENCE_MS) {
      const deadline = Date.now() + timeoutMs;
      while (good.length < count) {
        if (Date.now() > deadline) throw new Error(`took ${good.length} of ${count}: ${receiver.taken().join('; ')}`);
        await sleep(20);
      }
      return receiver.taken();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
