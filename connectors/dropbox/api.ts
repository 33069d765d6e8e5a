/** How Dropbox is asked: calls are POSTs, refusals say in words what is wrong. https://www.dropbox.com/developers/documentation/http */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { GrantClient, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { asObject, asText, type Json } from '../json.js';

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

/** Classifies a refusal by Dropbox's error summary. */
export function classify({ body }: Refusal): ErrorClass | null {
  const { error_summary: summary, error } = asObject(body);
  const words = [...(asText(summary) ?? '').split('/'), asText(asObject(error)['.tag']) ?? ''];
  const known = words.find((word) => Object.hasOwn(WORDS, word));
  return known === undefined ? null : (WORDS[known] ?? null);
}

/** Some rate limits are only in the body. */
export function waitMs({ headers, body }: Refusal): number | null {
  const { retry_after: seconds } = asObject(asObject(body)['error']);
  return headers['retry-after'] === undefined && typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : null;
}

/** Who the account is. The method takes no arguments, and says so of any. */
export const currentAccount = (client: SourceClient): Promise<Json> =>
  client.post(['users', 'get_current_account'], null);

/** Headers that show a team member the team's folders, in addition to their own; none for other accounts. */
async function rootHeaders(client: GrantClient): Promise<Readonly<Record<string, string>>> {
  // Every call needs it, so it is cached by the token.
  const root = await client.cache.getOrFind(keyOf(client), async () => {
    const { root_namespace_id: whole, home_namespace_id: own } = asObject((await currentAccount(client))['root_info']);
    return typeof whole === 'string' && /^\d{1,30}$/.test(whole) && whole !== own ? whole : '';
  });
  return root === '' ? {} : { 'dropbox-api-path-root': JSON.stringify({ '.tag': 'root', root }) };
}
const keyOf = ({ credentials }: GrantClient): string =>
  createHash('sha256').update(credentials.accessToken).digest('base64');

async function within<T>(
  client: GrantClient,
  ask: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  try {
    return await ask(await rootHeaders(client));
  } catch (error) {
    // It may be that where the account begins is another by now.
    if (error instanceof Fault && error.kind === 'server_error') client.cache.delete(keyOf(client));
    throw error;
  }
}

/** Calls a method. */
export const ask = (client: GrantClient, method: readonly string[], given: Json): Promise<Json> =>
  within(client, (headers) => client.post(method, given, { headers }));

/** Returns the bytes of a content request, and the metadata in its header. */
export const download = (
  client: GrantClient,
  method: 'download' | 'export',
  given: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: Uint8Array; readonly result: Json }> =>
  within(client, async (headers) => {
    // Goes into a header: nothing but ASCII is in it.
    const options = { at: 'content', headers: { ...headers, 'dropbox-api-arg': JSON.stringify(given) } };
    const { bytes, headers: told } = await client.content(['files', method], {}, options);
    return { bytes, result: resultOf(told['dropbox-api-result']) };
  });

function resultOf(header: string | undefined): Json {
  try {
    return asObject(JSON.parse(header ?? '{}'));
  } catch {
    return {};
  }
}
