/**
 * The Dropbox API: every call is a POST, and errors have a textual summary.
 * https://www.dropbox.com/developers/documentation/http
 */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { GrantClient, Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { asObject, asText, type Json } from '../json.js';

/** Error classes of the tags of Dropbox's errors whose meaning differs from that of the HTTP status. */
const CLASS_OF_TAG: Readonly<Record<string, ErrorClass>> = {
  not_found: 'not_found',
  malformed_path: 'not_found',
  restricted_content: 'forbidden_item',
  locked: 'forbidden_item',
  no_permission: 'forbidden_item',
  // The token lacks one scope, but is otherwise valid.
  missing_scope: 'forbidden_item',
  unsupported_content_type: 'not_exportable',
  unsupported_file: 'not_exportable',
  non_exportable: 'not_exportable',
  invalid_export_format: 'not_exportable',
  reset: 'cursor_invalid',
  retry_error: 'server',
  too_many_requests: 'rate_limited',
  // The account's root folder changed: the retry uses the new one.
  invalid_root: 'server',
};

/** Classifies a refusal by Dropbox's error summary. */
export function classify({ body }: Refusal): ErrorClass | null {
  const { error_summary: summary, error } = asObject(body);
  const candidates = [...(asText(summary) ?? '').split('/'), asText(asObject(error)['.tag']) ?? ''];
  const code = candidates.find((word) => Object.hasOwn(CLASS_OF_TAG, word));
  return code === undefined ? null : (CLASS_OF_TAG[code] ?? null);
}

/**
 * Returns the wait in milliseconds that the body of a refusal states. Null if it states none, or if the refusal has a
 * Retry-After header, which the caller reads.
 */
export function waitMs({ headers, body }: Refusal): number | null {
  const { retry_after: seconds } = asObject(asObject(body)['error']);
  return headers['retry-after'] === undefined && typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : null;
}

/** Requests the account's user. The body is null because the method rejects any argument. */
export const currentAccount = (client: SourceClient): Promise<Json> =>
  client.post(['users', 'get_current_account'], null);

/** Returns the root namespace of a team member's team; '' for other accounts. */
const teamRoot = (client: GrantClient): Promise<string> =>
  // Every call needs it, so it is cached by the token.
  client.cache.getOrFind(keyOf(client), async () => {
    const { root_namespace_id: rootNamespaceId, home_namespace_id: homeId } = asObject(
      (await currentAccount(client))['root_info'],
    );
    return typeof rootNamespaceId === 'string' && /^\d{1,30}$/.test(rootNamespaceId) && rootNamespaceId !== homeId
      ? rootNamespaceId
      : '';
  });

/** Whether the account sees the folders of a team. */
export const isInTeam = async (client: GrantClient): Promise<boolean> => (await teamRoot(client)) !== '';

/** Headers that show a team member the team's folders, in addition to their own; none for other accounts. */
async function rootHeaders(client: GrantClient): Promise<Readonly<Record<string, string>>> {
  const root = await teamRoot(client);
  return root === '' ? {} : { 'dropbox-api-path-root': JSON.stringify({ '.tag': 'root', root }) };
}
const keyOf = ({ credentials }: GrantClient): string =>
  createHash('sha256').update(credentials.accessToken).digest('base64');

/** Calls the API with the cached root namespace. A server error removes it from the cache: it may have changed. */
async function withRootNamespace<T>(
  client: GrantClient,
  callApi: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  try {
    return await callApi(await rootHeaders(client));
  } catch (error) {
    if (error instanceof Fault && error.kind === 'server_error') client.cache.delete(keyOf(client));
    throw error;
  }
}

/** Calls an API method. */
export const callApi = (client: GrantClient, method: readonly string[], parameters: Json): Promise<Json> =>
  withRootNamespace(client, (headers) => client.post(method, parameters, { headers }));

/** Returns the bytes of a content request, and the metadata in its header. */
export const download = (
  client: GrantClient,
  method: 'download' | 'export',
  parameters: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: Uint8Array; readonly result: Json }> =>
  withRootNamespace(client, async (headers) => {
    // Header values must be ASCII; ids and format names are.
    const options = { at: 'content', headers: { ...headers, 'dropbox-api-arg': JSON.stringify(parameters) } };
    const { bytes, headers: answerHeaders } = await client.content(['files', method], {}, options);
    return { bytes, result: resultOf(answerHeaders['dropbox-api-result']) };
  });

function resultOf(header: string | undefined): Json {
  try {
    return asObject(JSON.parse(header ?? '{}'));
  } catch {
    return {};
  }
}
