import { operations } from '../../api/routes.js';
import { CONNECTORS } from '../../connectors/catalogue.js';
import type { Connector } from '../../connectors/connector.js';
import type { OAuthGrant } from '../../connectors/oauthSpec.js';
import { describeSource } from '../../connectors/catalogue.js';
import { CONNECT_CREDENTIALS } from '../../contract/accounts/connectCredentials.js';
import { CONNECTION_CLIENTS, CALLBACK_PATHS, CONNECTION_FIELDS } from '../../contract/accounts/oauth.js';
import { isOAuthSource, type OAuthSource } from '../../contract/accounts/whiteLabel.js';
import { canAutoSync, CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { supportsOption } from '../../contract/sources/sources.js';
import { deletionsOf, incrementalOf, limitsOf } from '../sourcesPage.js';

type Row = readonly [label: string, value: string];

const code = (text: string): string => `\`${text}\``;
const yes = (is: boolean): string => (is ? 'yes' : 'no');

/** Returns the page of a source below docs/. */
export const pageOfSource = (source: ConnectedSourceType): string =>
  `guide/sources/${source.toLowerCase().replaceAll('_', '-')}.md`;

/** Returns the fields that the operation for one source requires. */
function requiredFields(path: string): string[] {
  const schema = operations.find((operation) => operation.method === 'post' && operation.path === path)?.body;
  const { keys = {} } = (schema?.describe() ?? {}) as { keys?: Record<string, { flags?: { presence?: string } }> };
  return Object.entries(keys).flatMap(([name, { flags }]) => (flags?.presence === 'required' ? [name] : []));
}

function clientRows(source: OAuthSource): Row[] {
  const { oauth } = CONNECTORS[source] as Connector<OAuthGrant>;
  const redirect: Row = ['Redirect URL to register', code(`PUBLIC_URL/integrations/${CALLBACK_PATHS[source]}`)];
  const clientRow = CONNECTION_CLIENTS[source];
  const client: Row = clientRow
    ? ['OAuth client', `sent with each connection, in ${code(clientRow.field)}`]
    : [
        'OAuth client',
        `${code(`OAUTH_CLIENTS=${source}=CLIENT_ID:CLIENT_SECRET`)}, or the organization's [white label](../../api/accounts.md#white-label)`,
      ];
  const scopes = oauth?.scopes ?? [];
  const requested = scopes.length === 0 ? 'chosen with the app at the provider' : scopes.map(code).join(', ');
  const where = oauth?.scopeParameter === 'user_scope' ? ' (user token scopes)' : '';
  return [client, redirect, [oauth?.isOAuth1 ? 'Permissions' : 'Scopes', requested + where]];
}

function connectRows(source: ConnectedSourceType): Row[] {
  const sourcePath = `/integrations/${source.toLowerCase()}`;
  if (!isOAuthSource(source))
    return [['Connected by', `${code(`POST ${sourcePath}`)} with ${requiredFields(sourcePath).map(code).join(', ')}`]];
  const version = CONNECTORS[source].oauth?.isOAuth1 ? 'OAuth 1.0a' : 'OAuth 2.0';
  const fields = (CONNECTION_FIELDS[source] ?? []).map(
    ({ field, isRequired, fallback, accepts }) =>
      `${code(field)}: ${accepts}${isRequired ? ' (required)' : fallback ? `; default ${code(fallback)}` : ' (optional)'}`,
  );
  return [
    [
      'Connected by',
      `${version} consent: ${code('POST /integrations/oauth_url')} with ${code(`"service": "${source}"`)}`,
    ],
    ...clientRows(source),
    ...(fields.length > 0 ? [['Additional fields', fields.join('; ')] as const] : []),
  ];
}

function credentialRow(source: ConnectedSourceType): Row[] {
  const fields = CONNECT_CREDENTIALS[source];
  if (!fields) return [];
  const shown = fields.map((field) => (field.endsWith('?') ? `${code(field.slice(0, -1))} (optional)` : code(field)));
  return [[`Fields of ${code('POST /integrations/connect')}`, shown.join(', ')]];
}

/** Hosts that depend on the account, in addition to those of CONNECTED_SOURCES. */
const FURTHER_HOSTS: Partial<Record<ConnectedSourceType, string>> = {
  S3:
    `; for buckets in other regions ${code('s3.{region}.amazonaws.com')}; ` +
    `if ${code('endpoint_url')} is set, only its host`,
};

/** Returns the table of a source: what a caller sends, what is ingested, and the options that it supports. */
export function sourceTable(source: ConnectedSourceType): string {
  const { listed, ingested } = describeSource(source);
  const { urls } = CONNECTED_SOURCES[source];
  const hosts = [...new Set(Object.values(urls).map((url) => url.replace(/^https:\/\/([^/]+).*$/, '$1')))];
  const rows: Row[] = [
    ['Name in the API', code(source)],
    ...connectRows(source),
    ...credentialRow(source),
    ['Listed', listed],
    ['Becomes files', ingested],
    ['Changes', incrementalOf(source)],
    ['Deletions', deletionsOf(source)],
    ['Limits', limitsOf(source)],
    ['Automatic sync', yes(canAutoSync(source))],
    [`Supports ${code('sync_files_on_connection')}`, yes(supportsOption(source, 'sync_files_on_connection'))],
    ['File chooser after the consent', yes(supportsOption(source, 'enable_file_picker'))],
    [`Supports ${code('incremental_sync')}`, yes(supportsOption(source, 'incremental_sync'))],
    ['Hosts that the service calls', `${hosts.map(code).join(', ')}${FURTHER_HOSTS[source] ?? ''}`],
  ];
  return ['| property | value |', '|---|---|', ...rows.map(([label, value]) => `| ${label} | ${value} |`)].join('\n');
}

/** Returns the list of all source pages. */
export function sourceList(): string {
  const rows = (Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[])
    .toSorted((a, b) => CONNECTED_SOURCES[a].name.localeCompare(CONNECTED_SOURCES[b].name, 'en'))
    .map((source) => {
      const { auth, name } = CONNECTED_SOURCES[source];
      const file = pageOfSource(source).replace('guide/sources/', '');
      return `| [${name}](${file}) | ${code(source)} | ${auth === 'oauth' ? 'consent' : 'token'} | ${describeSource(source).listed} |`;
    });
  return ['| source | name in the API | connected by | listed |', '|---|---|---|---|', ...rows].join('\n');
}
