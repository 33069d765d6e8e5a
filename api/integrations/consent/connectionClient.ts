import { CONNECTION_CLIENTS, CALLBACK_PATHS, type OAuthClient } from '../../../contract/accounts/oauth.js';
import type { OAuthSource } from '../../../contract/accounts/whiteLabel.js';
import type { ApiDeps } from '../../http/deps.js';
import { HttpError, invalid } from '../../http/errors.js';
import { readConnectionFields } from './connectionFields.js';

/** An OAuth client that a request supplies for one connection, with the server that the client belongs to. */
export interface ConnectionClient {
  readonly client: OAuthClient & { readonly secret: string };
  /** Sent unchanged in both steps of the consent, because the provider compares it literally. */
  readonly redirectUri: string;
  /** Parameters of the connection, such as the instance. */
  readonly parameters: Readonly<Record<string, string>>;
}

const CLIENT_FIELDS = ['client_id', 'client_secret', 'redirect_uri'] as const;
const MAX_TEXT = 2_000;
/** Excludes characters that a URL parser would ignore. */
const PRINTABLE_ASCII = /^[\x21-\x7e]+$/;

/** Returns the string members of an object, up to MAX_TEXT characters each. */
const textsIn = (values: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(typeof values === 'object' && values !== null ? values : {}).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1].length <= MAX_TEXT,
    ),
  );

const hrefOf = (text: string): string | null => (URL.canParse(text) ? new URL(text).href : null);

/**
 * Returns the OAuth client of a connection for sources that require one per connection; null for other sources.
 * @throws HttpError 400 that names missing fields, 422 for values that could lead to another host
 */
export function connectionClient(
  service: OAuthSource,
  body: Readonly<Record<string, unknown>>,
  { publicUrl, settings }: Pick<ApiDeps, 'publicUrl' | 'settings'>,
): ConnectionClient | null {
  const row = CONNECTION_CLIENTS[service];
  if (!row) return null;
  const { field } = row;
  const values = textsIn(body[field]);
  const parameters = readConnectionFields(row.fields, values, [field]);
  const [id = '', secret = '', redirectUri = ''] = CLIENT_FIELDS.map((name) => values[name] ?? '');
  const absent = CLIENT_FIELDS.find((name) => (values[name] ?? '') === '');
  if (absent !== undefined) throw new HttpError(400, `Send ${field}.${absent}: the consent URL requires it.`);
  const redirectUris = [publicUrl(), ...settings.publicUrlAliases].map(
    (address) => `${address}/integrations/${CALLBACK_PATHS[service]}`,
  );
  if (
    !PRINTABLE_ASCII.test(redirectUri) ||
    !redirectUris.some((place) => place === redirectUri || hrefOf(place) === hrefOf(redirectUri))
  )
    throw invalid(
      ['body', field, 'redirect_uri'],
      `Must be /integrations/${CALLBACK_PATHS[service]} on this host, or on one of PUBLIC_URL_ALIASES`,
      'value_error',
    );
  return { client: { id, secret }, redirectUri, parameters };
}
