/**
 * Requests signed with the key of a storage account.
 * https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 */
import { createHmac } from 'node:crypto';

/** Credentials supplied by the caller. */
export interface AzureCredentials {
  readonly accountName: string;
  /** Base64, as shown in the portal. */
  readonly accountKey: string;
}

/**
 * API version. It percent-encodes names with characters that XML cannot contain, and its listings have the resource
 * type `directory`.
 */
const VERSION = '2021-12-02';
/** Empty lines for the standard headers of the string to sign, which these GET requests do not have. */
const UNSENT = '\n'.repeat(11);

/** Returns the headers that authenticate a GET with the account's key. */
export function signedHeaders(
  url: string,
  { accountName, accountKey }: AzureCredentials,
  now = new Date(),
): Record<string, string> {
  const { pathname, searchParams } = new URL(url);
  const headers = { 'x-ms-date': now.toUTCString(), 'x-ms-version': VERSION };
  const parameters = [...searchParams]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `\n${name}:${value}`);
  const text = [
    `GET${UNSENT}`,
    ...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
    `/${accountName}${pathname}${parameters.join('')}`,
  ].join('\n');
  const signature = createHmac('sha256', Buffer.from(accountKey, 'base64')).update(text).digest('base64');
  return { ...headers, authorization: `SharedKey ${accountName}:${signature}` };
}
