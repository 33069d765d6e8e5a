import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { GrantClient, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { incompleteAnswer } from '../faults.js';
import { asObject, type Json, asTrimmed } from '../json.js';

/** Zotero's maximum page size. */
const PER_PAGE = 100;

/** Classifies refusals. Errors are plain texts; an invalid key is 403, like missing access. */
export function classify({ status, body }: Refusal): ErrorClass | null {
  if (status === 403 && typeof body === 'string' && /invalid key/i.test(body)) return 'auth_revoked';
  // Zotero answers 400 for a file that was never uploaded, and for an unknown item key.
  if (status === 400 && typeof body === 'string' && /not found|invalid .*key/i.test(body)) return 'not_found';
  return status === 503 ? 'rate_limited' : null;
}

/** Returns the requested backoff in milliseconds; 0 without one. Successful answers may request one too. */
export function backoffMs(headers: Refusal['headers']): number {
  const seconds = Number(headers['backoff'] ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** Owner and permissions of an API key. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** Whether the key has access to its owner's library. */
  readonly hasLibrary: boolean;
}

/** Requests the owner and permissions of the key. @throws Fault */
export async function fetchKeyOwner(client: SourceClient): Promise<KeyOwner> {
  const keyInfo = await client.get(['keys', 'current'], {});
  const { userID, username, access } = keyInfo;
  if (typeof userID !== 'number' || userID <= 0) throw new Fault('server_error', 'Zotero returned no user. Try again.');
  const hasLibrary = asObject(asObject(access)['user'])['library'] === true;
  return { id: String(userID), name: asTrimmed(username), hasLibrary };
}

/** Like fetchKeyOwner, cached for minutes by the hash of the key. */
export async function ownerOf(client: GrantClient): Promise<KeyOwner> {
  const hash = createHash('sha256').update(client.credentials.accessToken).digest('base64');
  return client.cache.getOrFind(hash, () => fetchKeyOwner(client));
}

interface JsonPage {
  readonly values: readonly Json[];
  /** Start of the next page; null after the last one. */
  readonly next: number | null;
  /** Version of the library at the time of the answer. */
  readonly version: number;
}

/**
 * Returns a page of a list by its start number, the only pagination that Zotero has. If the version differs from that
 * of an earlier page, the library changed in between, and entries may have moved to other pages.
 */
export async function listPage(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  start: number,
): Promise<JsonPage> {
  const fields = { format: 'json', limit: String(PER_PAGE), ...query, start: String(start) };
  const { values, headers } = await client.list(path, fields);
  const link = (headers['link'] ?? '').split(/,(?=\s*<)/).find((part) => /;\s*rel="?next"?/.test(part));
  const next = Number(/[?&]start=(\d{1,9})/.exec(link ?? '')?.[1] ?? Number.NaN);
  return {
    values: values.map(asObject),
    next: Number.isSafeInteger(next) && next > start ? next : null,
    version: Number(headers['last-modified-version'] ?? 0),
  };
}

/** Returns an item. @throws Fault; server_error for an answer without one */
export async function readItem(
  client: SourceClient,
  path: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const json = await client.get(path, {});
  if (asTrimmed(json['key']) === '') throw incompleteAnswer('Zotero', 'the item');
  return json;
}

/**
 * Returns all pages of a short list. @param maxEntries throws a Fault beyond this number: an incomplete list would
 * cause deletions
 */
export async function listAll(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  maxEntries: number,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let start: number | null = 0; start !== null;) {
    const page: JsonPage = await listPage(client, path, query, start);
    all.push(...page.values);
    start = page.next;
    if (all.length > maxEntries)
      throw new Fault('too_large', `Zotero lists more than ${maxEntries} entries, the maximum for this kind of list.`);
  }
  return all;
}
