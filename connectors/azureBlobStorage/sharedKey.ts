/** Requests signed with the key of a storage account. https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key */
import { createHmac } from 'node:crypto';

/** What its user hands us. */
export interface AzureCredentials {
  readonly accountName: string;
  /** Base64, as the portal shows it. */
  readonly accountKey: string;
}

/** Of the interface: with it names that no XML can hold come encoded, and directories are marked as such. */
const VERSION = '2021-12-02';
/** Headers of a GET that could be signed and that none of ours has. */
const UNSENT = '\n'.repeat(11);

/** The headers that make a GET of an address one of the account. */
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
