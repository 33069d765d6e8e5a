import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { GrantClient, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { incompleteAnswer } from '../faults.js';
import { asObject, type Json, asTrimmed } from '../json.js';

/** As many as Zotero gives in one answer, at most. */
const PER_PAGE = 100;

/** Errors are plain texts; an invalid key is 403 as well. */
export function classify({ status, body }: Refusal): ErrorClass | null {
  if (status === 403 && typeof body === 'string' && /invalid key/i.test(body)) return 'auth_revoked';
  // Of a file that was never uploaded, or of a key that was never one.
  if (status === 400 && typeof body === 'string' && /not found|invalid .*key/i.test(body)) return 'not_found';
  return status === 503 ? 'rate_limited' : null;
}

/** Zotero asks for rest also where it has answered. */
export function restMs(headers: Refusal['headers']): number {
  const seconds = Number(headers['backoff'] ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** Whose key it is. */
export interface KeyOwner {
  readonly id: string;
  readonly name: string;
  /** Whether the key opens the library of its owner. */
  readonly hasLibrary: boolean;
}

/** Asks whose key it is, and what it opens. @throws Fault */
export async function askOwner(client: SourceClient): Promise<KeyOwner> {
  const found = await client.get(['keys', 'current'], {});
  const { userID, username, access } = found;
  if (typeof userID !== 'number' || userID <= 0) throw new Fault('server_error', 'Zotero named no user. Try again.');
  const hasLibrary = asObject(asObject(access)['user'])['library'] === true;
  return { id: String(userID), name: asTrimmed(username), hasLibrary };
}

/** The same, cached by the hash of the key. */
export async function ownerOf(client: GrantClient): Promise<KeyOwner> {
  const hash = createHash('sha256').update(client.credentials.accessToken).digest('base64');
  return client.cache.getOrFind(hash, () => askOwner(client));
}

interface JsonPage {
  readonly values: readonly Json[];
  /** Where the next page begins; null after the last one. */
  readonly next: number | null;
  /** Of the library, at that moment. */
  readonly version: number;
}

/** A page of a list, by number: Zotero knows no other kind. Its version tells whether the library is still the same. */
export async function listPage(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  start: number,
): Promise<JsonPage> {
  const asked = { format: 'json', limit: String(PER_PAGE), ...query, start: String(start) };
  const { values, headers } = await client.list(path, asked);
  const link = (headers['link'] ?? '').split(/,(?=\s*<)/).find((part) => /;\s*rel="?next"?/.test(part));
  const next = Number(/[?&]start=(\d{1,9})/.exec(link ?? '')?.[1] ?? Number.NaN);
  return {
    values: values.map(asObject),
    next: Number.isSafeInteger(next) && next > start ? next : null,
    version: Number(headers['last-modified-version'] ?? 0),
  };
}

/** What Zotero says of an item. @throws Fault, server_error where the answer is about none */
export async function readItem(
  client: SourceClient,
  path: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const json = await client.get(path, {});
  if (asTrimmed(json['key']) === '') throw incompleteAnswer('Zotero', 'the item');
  return json;
}

/** Returns all pages of a short list. @param most throws a Fault beyond: a part must not look like the whole */
export async function listAll(
  client: SourceClient,
  path: readonly string[],
  query: Readonly<Record<string, string>>,
  most: number,
): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let start: number | null = 0; start !== null;) {
    const page: JsonPage = await listPage(client, path, query, start);
    all.push(...page.values);
    start = page.next;
    if (all.length > most)
      throw new Fault('too_large', `Zotero lists more than the ${most} entries that are read of such a list.`);
  }
  return all;
}
