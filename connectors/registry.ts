import { LRUCache } from 'lru-cache';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../contract/sources.js';
import type { Egress } from '../egress/types.js';
import type { ChangePage, Connector, ContainerPage, Identity, ItemContent, ItemPage } from './connector.js';
import { gitbook } from './gitbook/index.js';
import { github } from './github/index.js';
import { googleDrive } from './googleDrive/index.js';
import type { SourceUrls } from './readSourceUrls.js';
import { createRequestGate, type RequestGate } from './requestGate.js';
import { s3 } from './s3/index.js';
import { createSourceClient } from './sourceClient.js';

/** Every connector on one line. Its row stands in contract/sources.ts. */
const CONNECTORS: Readonly<Record<ConnectedSourceType, Connector<never>>> = {
  GITBOOK: gitbook,
  GITHUB: github,
  GOOGLE_DRIVE: googleDrive,
  S3: s3,
};

/** Accounts whose requests are counted at once. */
const MAX_ACCOUNTS = 10_000;

/** An account of a source: what its connector does, with its credentials in place. Each throws Faults. */
export interface Account {
  identify(signal: AbortSignal): Promise<Identity>;
  roots(cursor: string | null, signal: AbortSignal): Promise<ItemPage>;
  /** Of sources that number such pages; of others there is none. */
  containers(page: { readonly number: number; readonly size: number }, signal: AbortSignal): Promise<ContainerPage>;
  below(externalId: string, cursor: string | null, signal: AbortSignal): Promise<ItemPage>;
  open(externalId: string, signal: AbortSignal): Promise<ItemContent>;
  /** Of sources that tell what happened since a point; of others null. */
  readonly changes: {
    now(signal: AbortSignal): Promise<string>;
    since(point: string, signal: AbortSignal): Promise<ChangePage>;
  } | null;
  /** What an operation of its own asks; see Connector.reads. */
  read(name: string, query: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
}

export interface Connectors {
  /**
   * @param key who shares the limits of requests: the same for the same account
   * @param credentials as the source's connector takes them, as JSON
   */
  account(source: ConnectedSourceType, key: string, credentials: string): Account;
}

/** The sources that accounts are connected to. @param urls where they are @param maxItemBytes of the content of an item */
export function createConnectors({
  egress,
  urls,
  maxItemBytes,
}: {
  readonly egress: Pick<Egress, 'request'>;
  readonly urls: SourceUrls;
  readonly maxItemBytes: number;
}): Connectors {
  const gates = new LRUCache<string, RequestGate>({ max: MAX_ACCOUNTS });
  return {
    account(source, key, credentials) {
      const { name, requestsAtOnce } = CONNECTED_SOURCES[source];
      const connector = CONNECTORS[source];
      const feed = connector.changes;
      // Only its own connector made sense of them before they were sealed.
      const given = JSON.parse(credentials) as never;
      const place = `${source} ${key}`;
      const gate = gates.get(place) ?? createRequestGate(name, requestsAtOnce);
      gates.set(place, gate);
      const client = createSourceClient({
        name,
        urls: urls[source],
        headers: connector.headers(given),
        connector,
        gate,
        egress,
        maxItemBytes,
      });
      return {
        identify: (signal) => connector.identify(client, given, signal),
        roots: (cursor, signal) => connector.roots(client, given, cursor, signal),
        containers: async (page, signal) =>
          (await connector.containers?.(client, page, signal)) ?? { containers: [], next: null },
        below: (externalId, cursor, signal) => connector.below(client, externalId, cursor, signal, given),
        open: (externalId, signal) => connector.open(client, externalId, signal, given),
        changes: feed
          ? {
              now: (signal) => feed.now(client, given, signal),
              since: (point, signal) => feed.since(client, given, point, signal),
            }
          : null,
        read: async (what, query, signal) => {
          const read = connector.reads?.[what];
          if (!read) throw new Error(`${name} has no read called ${what}`);
          return read(client, query, signal, given);
        },
      };
    },
  };
}
