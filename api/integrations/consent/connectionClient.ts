import { CONNECTION_CLIENTS, CALLBACK_PATHS, type OAuthClient } from '../../../contract/accounts/oauth.js';
import type { OAuthSource } from '../../../contract/accounts/whiteLabel.js';
import type { ApiDeps } from '../../http/deps.js';
import { HttpError, invalid } from '../../http/errors.js';
import { readConnectionFields } from './connectionFields.js';

/** An OAuth client that a caller provides for one connection, with the server that it belongs to. */
export interface ConnectionClient {
  readonly client: OAuthClient & { readonly secret: string };
  /** Must stay unchanged: the provider compares it literally in both steps. */
  readonly redirectUri: string;
  /** Parameters of the connection, such as the instance. */
  readonly parameters: Readonly<Record<string, string>>;
}

const TEXTS = ['client_id', 'client_secret', 'redirect_uri'] as const;
const MAX_TEXT = 2_000;
/** Excludes characters that a URL parser would ignore. */
const VISIBLE = /^[\x21-\x7e]+$/;

/** Returns the texts of the given object, unchecked. */
const textsIn = (given: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(typeof given === 'object' && given !== null ? given : {}).filter(
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
  const given = textsIn(body[field]);
  const parameters = readConnectionFields(row.fields, given, [field]);
  const [id = '', secret = '', redirectUri = ''] = TEXTS.map((name) => given[name] ?? '');
  const absent = TEXTS.find((name) => (given[name] ?? '') === '');
  if (absent !== undefined) throw new HttpError(400, `Send ${field}.${absent}: the consent URL requires it.`);
  const places = [publicUrl(), ...settings.publicUrlAliases].map(
    (address) => `${address}/integrations/${CALLBACK_PATHS[service]}`,
  );
  if (
    !VISIBLE.test(redirectUri) ||
    !places.some((place) => place === redirectUri || hrefOf(place) === hrefOf(redirectUri))
  )
    throw invalid(
      ['body', field, 'redirect_uri'],
      `Must be /integrations/${CALLBACK_PATHS[service]} on this host, or on one of PUBLIC_URL_ALIASES`,
      'value_error',
    );
  return { client: { id, secret }, redirectUri, parameters };
}
