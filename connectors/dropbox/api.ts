/** How Dropbox is asked: calls are POSTs, refusals say in words what is wrong. https://www.dropbox.com/developers/documentation/http */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import { Fault } from '../../contract/failures.js';
import type { OAuthGrant, Refusal, SourceClient } from '../connector.js';
import type { ErrorClass } from '../errorClasses.js';
import { asObject, asText, type Json } from '../json.js';

/** One account, asked by one caller. */
export interface Call {
  readonly client: SourceClient;
  readonly grant: OAuthGrant;
}

/** Words of an error, from the outermost in, where its status says something else. */
const WORDS: Readonly<Record<string, ErrorClass>> = {
  not_found: 'not_found',
  malformed_path: 'not_found',
  restricted_content: 'forbidden_item',
  locked: 'forbidden_item',
  no_permission: 'forbidden_item',
  // Of the token: whatever else it is good for, it still is.
  missing_scope: 'forbidden_item',
  unsupported_content_type: 'not_exportable',
  unsupported_file: 'not_exportable',
  non_exportable: 'not_exportable',
  invalid_export_format: 'not_exportable',
  reset: 'cursor_invalid',
  retry_error: 'server',
  too_many_requests: 'rate_limited',
  // The account was moved to other folders while it was asked: the next try asks for those.
  invalid_root: 'server',
};

export function classify({ body }: Refusal): ErrorClass | null {
  const { error_summary: summary, error } = asObject(body);
  const words = [...(asText(summary) ?? '').split('/'), asText(asObject(error)['.tag']) ?? ''];
  const known = words.find((word) => Object.hasOwn(WORDS, word));
  return known === undefined ? null : (WORDS[known] ?? null);
}

/** Some limits are told in the answer alone. */
export function waitMs({ headers, body }: Refusal): number | null {
  const { retry_after: seconds } = asObject(asObject(body)['error']);
  return headers['retry-after'] === undefined && typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : null;
}

/** Who the account is. The method takes no arguments, and says so of any. */
export const currentAccount = ({ client }: Pick<Call, 'client'>): Promise<Json> =>
  client.post(['users', 'get_current_account'], null);

/** Where an account begins, by its token: asked for again and again, so kept for minutes. */
const roots = new LRUCache<string, string>({ ...atMost(10_000), ttl: 600_000 });

/** What shows a member of a team the folders of the team beside the own one; nothing for others. */
async function rootHeaders(call: Call): Promise<Readonly<Record<string, string>>> {
  const key = keyOf(call);
  let root = roots.get(key);
  if (root === undefined) {
    const { root_namespace_id: whole, home_namespace_id: own } = asObject((await currentAccount(call))['root_info']);
    root = typeof whole === 'string' && /^\d{1,30}$/.test(whole) && whole !== own ? whole : '';
    roots.set(key, root);
  }
  return root === '' ? {} : { 'dropbox-api-path-root': JSON.stringify({ '.tag': 'root', root }) };
}
const keyOf = ({ grant }: Call): string => createHash('sha256').update(grant.accessToken).digest('base64');

async function within<T>(call: Call, ask: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
  try {
    return await ask(await rootHeaders(call));
  } catch (error) {
    // It may be that where the account begins is another by now.
    if (error instanceof Fault && error.kind === 'server_error') roots.delete(keyOf(call));
    throw error;
  }
}

/** Calls a method. */
export const ask = (call: Call, method: readonly string[], given: Json): Promise<Json> =>
  within(call, (headers) => call.client.post(method, given, { headers }));

/** The bytes that a method gives, and what it says of them beside. */
export const download = (
  call: Call,
  method: 'download' | 'export',
  given: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: Uint8Array; readonly result: Json }> =>
  within(call, async (headers) => {
    // Goes into a header: nothing but ASCII is in it.
    const options = { at: 'content', headers: { ...headers, 'dropbox-api-arg': JSON.stringify(given) } };
    const { bytes, headers: told } = await call.client.content(['files', method], {}, options);
    return { bytes, result: resultOf(told['dropbox-api-result']) };
  });

function resultOf(header: string | undefined): Json {
  try {
    return asObject(JSON.parse(header ?? '{}'));
  } catch {
    return {};
  }
}
