/**
 * A proxy between a process of the service, usually a worker, and its stores. It recognizes the steps of a commit and
 * can stop all traffic at one of them.
 */
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import { tieSockets } from './tieSockets.js';

/** The requests of a commit, in order. */
export const COMMIT_STEPS = [
  'chunks',
  'points',
  'insertEvents',
  'publish',
  'publishEvents',
  'cleanPoints',
  'cleanChunks',
  'recordCleanup',
] as const;
/** `commitTransaction` is the commit command of any MongoDB transaction that passes the proxy, also of an API. */
export type CommitStep = (typeof COMMIT_STEPS)[number] | 'commitTransaction';

/**
 * The point at which to stop: before the store receives the n-th call of a step, or after the call but before the
 * process receives the answer.
 */
export interface Stop {
  readonly step: CommitStep;
  readonly when: 'before' | 'after';
  readonly nth: number;
}

export interface FaultProxy {
  /** Settings that route a process through the proxy. */
  readonly env: Readonly<Record<'MONGODB_URI' | 'QDRANT_URL', string>>;
  /** Forwards everything up to the given point, then nothing; resolves when the point is reached. */
  stopAt(stop: Stop): Promise<void>;
  /** Removes the stop and drops the held requests, as a network does after a client dies; all later traffic passes. */
  reopen(): void;
  close(): Promise<void>;
}

/** Decides whether each call passes. Held calls never continue. */
function createGate() {
  let armed: { stop: Stop; remaining: number; reached: () => void } | null = null;
  let shut = false;
  return {
    async pass(step: CommitStep | null, when: Stop['when']): Promise<void> {
      if (armed && step === armed.stop.step && when === armed.stop.when) {
        armed.remaining -= 1;
        if (armed.remaining === 0) {
          shut = true;
          armed.reached();
        }
      }
      if (shut) await new Promise<never>(() => undefined);
    },
    arm: (stop: Stop): Promise<void> =>
      new Promise((reached) => {
        armed = { stop, remaining: stop.nth, reached };
      }),
    /** Removes the stop; returns whether it was reached. */
    open(): boolean {
      const wasShut = shut;
      armed = null;
      shut = false;
      return wasShut;
    },
  };
}
type Gate = ReturnType<typeof createGate>;

/** Returns the first bytes of the BSON document of an OP_MSG command on a collection: command name and collection. */
const command = (name: string, collection: string): Buffer =>
  Buffer.from(`\x02${name}\0${String.fromCharCode(collection.length + 1)}\0\0\0${collection}\0`);
const INSERT_CHUNKS = command('insert', 'segments');
const DELETE_CHUNKS = command('delete', 'segments');
const UPDATE_FILES = command('update', 'files');
const INSERT_EVENTS = command('insert', 'events');
const UPDATE_EVENTS = command('update', 'events');
/** The value of the command is the number 1. */
const COMMIT_TRANSACTION = Buffer.from('\x10commitTransaction\0\x01');

/** Returns the id of the event row in a message. */
const rowOf = (message: Buffer): string => /[0-9a-f]{24}:\d+/.exec(message.toString('latin1'))?.[0] ?? '';

/** @param unpublished ids of event rows that are not published yet */
function stepOfMessage(message: Buffer, unpublished: Set<string>): CommitStep | null {
  if (message.includes(INSERT_EVENTS) && message.includes('FILE_READY') && message.includes('WEBPAGE_READY')) {
    unpublished.add(rowOf(message));
    return 'insertEvents';
  }
  if (message.includes(UPDATE_EVENTS)) return unpublished.delete(rowOf(message)) ? 'publishEvents' : null;
  if (message.includes(COMMIT_TRANSACTION)) return 'commitTransaction';
  if (message.includes(INSERT_CHUNKS)) return 'chunks';
  if (message.includes(DELETE_CHUNKS)) return 'cleanChunks';
  if (!message.includes(UPDATE_FILES) || !message.includes('cleanupPending')) return null;
  return message.includes('processedAs') ? 'publish' : 'recordCleanup';
}

/** Calls `each` for every complete message of MongoDB's wire protocol, in order. */
function eachMessage(from: Socket, each: (message: Buffer) => Promise<void>): void {
  let unparsed = Buffer.alloc(0);
  let previous = Promise.resolve();
  from.on('data', (data: Buffer) => {
    unparsed = Buffer.concat([unparsed, data]);
    while (unparsed.length >= 4 && unparsed.length >= unparsed.readInt32LE(0)) {
      const message = unparsed.subarray(0, unparsed.readInt32LE(0));
      unparsed = unparsed.subarray(message.length);
      previous = previous.then(() => each(message));
    }
  });
}

function mongoProxy(target: URL, gate: Gate, sockets: Set<Socket>): Server {
  // Shared by all connections: one can insert an event row and another publish it.
  const unpublished = new Set<string>();
  return createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const steps = new Map<number, CommitStep>();
    tieSockets(client, server, sockets);
    eachMessage(client, async (message) => {
      const step = stepOfMessage(message, unpublished);
      if (step) steps.set(message.readInt32LE(4), step);
      await gate.pass(step, 'before');
      server.write(message);
    });
    eachMessage(server, async (message) => {
      await gate.pass(steps.get(message.readInt32LE(8)) ?? null, 'after');
      client.write(message);
    });
  });
}

function stepOfRequest({ method, url = '' }: IncomingMessage): CommitStep | null {
  const path = url.split('?')[0] ?? '';
  if (method === 'PUT' && path.endsWith('/points')) return 'points';
  return method === 'POST' && path.endsWith('/points/delete') ? 'cleanPoints' : null;
}

function qdrantProxy(target: string, gate: Gate): HttpServer {
  return createHttpServer((request, response) => {
    const forward = async (): Promise<void> => {
      const step = stepOfRequest(request);
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      await gate.pass(step, 'before');
      const answer = await fetch(new URL(request.url ?? '/', target), {
        method: request.method ?? 'GET',
        headers: { 'content-type': 'application/json' },
        ...(parts.length === 0 ? {} : { body: Buffer.concat(parts) }),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      await gate.pass(step, 'after');
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    };
    forward().catch(() => response.destroy());
  });
}

/** Starts a proxy. @param env the settings of a service, whose stores stay reachable without the proxy */
export async function startFaultProxy(env: NodeJS.ProcessEnv): Promise<FaultProxy> {
  const gate = createGate();
  const sockets = new Set<Socket>();
  const mongodbUri = new URL(env['MONGODB_URI'] ?? '');
  const mongo = mongoProxy(new URL(mongodbUri.href.replace('mongodb:', 'http:')), gate, sockets);
  const qdrant = qdrantProxy(env['QDRANT_URL'] ?? '', gate);
  mongo.listen(0, '127.0.0.1');
  qdrant.listen(0, '127.0.0.1');
  await Promise.all([once(mongo, 'listening'), once(qdrant, 'listening')]);
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    qdrant.closeAllConnections();
  };
  return {
    env: {
      // directConnection: a client of the replica set would switch to the address that the set reports.
      MONGODB_URI: `mongodb://127.0.0.1:${portOf(mongo)}${mongodbUri.pathname}?directConnection=true`,
      QDRANT_URL: `http://127.0.0.1:${portOf(qdrant)}`,
    },
    stopAt: (stop) => gate.arm(stop),
    reopen() {
      if (gate.open()) cut();
    },
    async close() {
      gate.open();
      cut();
      mongo.close();
      qdrant.close();
      await Promise.all([once(mongo, 'close'), once(qdrant, 'close')]);
    },
  };
}
