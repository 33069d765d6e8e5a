/** Tests of what a request to connect an account passes to its source, and stores, with a source and a store in memory. */
import { expect, test } from '@jest/globals';

import { connect } from '../../api/integrations/connect.js';
import { connectAccount } from '../../api/integrations/connectAccount.js';
import { oauthUrl } from '../../api/integrations/consent/oauthUrl.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
const AT = new Date(0);
const SOURCE = {
  ...{ _id: 5, ...ADA, externalId: null, sealedCredentials: 'x', syncStatus: 'READY', metadata: {}, tags: [] },
  ...{ revokedAccess: false, lastSyncedAt: AT, createdAt: AT, updatedAt: AT, itemsRunId: null },
};
const IDENTITY = { account: 'ada@source.example', metadata: { plan: 'free' } };

/** Returns fake dependencies of a request, and what they are asked. */
function depsOf(identify: () => Promise<object> = () => Promise.resolve(IDENTITY)) {
  const { stores, of } = recorder({ 'runs.nextId': 20 });
  const opened: { type: string; name: string; credentials: unknown }[] = [];
  const accepted: object[] = [];
  const started: number[] = [];
  const deps = {
    store: {
      ...(stores as object),
      connections: {
        accept: (_caller: object, connection: object) => (
          accepted.push(connection),
          Promise.resolve({ dataSource: SOURCE, runIds: [31, 32] })
        ),
      },
      attempts: { beginConnected: () => Promise.resolve('secret') },
    },
    connectors: {
      account: (type: string, name: string, sealed: string) => (
        opened.push({ type, name, credentials: JSON.parse(sealed) }),
        { identify }
      ),
    },
    addresses: {
      check: (url: string) =>
        url.includes('10.0.0.5') ? Promise.reject(new Fault('address_refused', 'private')) : Promise.resolve(),
    },
    unit: { transaction: (work: (session: null) => unknown) => work(null), start: (id: number) => started.push(id) },
    settings: { connectPageLifeMs: 1_000 },
    publicUrl: () => 'https://api.example',
    workflowLink: () => ({}),
  };
  return { deps, opened, accepted, started, of };
}

/** Connects an account by POST /integrations/connect. @returns the credentials that its source receives, or the error */
async function credentialsFor(authentication: object): Promise<unknown> {
  const { value, error } = connect.body!.validate({ authentication }) as { value: object; error?: Error };
  if (error) throw error;
  const { deps, opened } = depsOf();
  try {
    await connect.handle({ caller: ADA, body: value, deps } as never);
  } catch (refusal) {
    return refusal;
  }
  return opened[0]!.credentials;
}

const S3 = { source: 'S3', access_key: 'k', access_key_secret: 's' };
const TOKEN = { access_token: 't' };
const GRANT = { accessToken: 't', refreshToken: null, clientId: null, expiresAt: null, facts: {} };

test('credentials in a request are converted to the fields that the connector of their source expects', () =>
  everyRow(
    [
      [
        { source: 'GITHUB', username: 'ada', ...TOKEN },
        { username: 'ada', accessToken: 't' },
      ],
      [
        { source: 'GURU', username: 'ada', ...TOKEN },
        { username: 'ada', accessToken: 't' },
      ],
      [
        { source: 'GITBOOK', organization_name: 'o', ...TOKEN },
        { organization: 'o', accessToken: 't' },
      ],
      [
        { source: 'FRESHDESK', domain: 'Harbour.freshdesk.com', api_key: 'k' },
        { domain: 'harbour', apiKey: 'k' },
      ],
      [
        { source: 'AZURE_BLOB_STORAGE', account_name: 'ada1', account_key: 'k' },
        { accountName: 'ada1', accountKey: 'k' },
      ],
      [S3, { accessKey: 'k', accessKeySecret: 's', endpointUrl: null }],
      [{ ...S3, endpoint_url: '' }, { endpointUrl: null }],
      [
        { ...S3, endpoint_url: 'https://minio.example:9000/store//' },
        { endpointUrl: 'https://minio.example:9000/store' },
      ],
      [{ source: 'DROPBOX', ...TOKEN }, GRANT],
      [
        { source: 'DROPBOX', ...TOKEN, refresh_token: 'r' },
        { ...GRANT, refreshToken: 'r' },
      ],
      [{ source: 'DROPBOX', ...TOKEN, refresh_token: '' }, GRANT],
      [
        { source: 'NOTION', ...TOKEN, workspace_id: 'w' },
        { ...GRANT, facts: { workspace: 'w' } },
      ],
      [
        { source: 'ONEDRIVE', ...TOKEN },
        { ...GRANT, facts: { tenant: 'common' } },
      ],
      [
        { source: 'SHAREPOINT', ...TOKEN, tenant_name: 'harbour.example', site_name: 'teams/Crew' },
        { ...GRANT, facts: { tenant: 'harbour.example', site: 'teams/Crew' } },
      ],
      [
        { source: 'ZENDESK', ...TOKEN, subdomain: 'harbour' },
        { ...GRANT, facts: { subdomain: 'harbour' } },
      ],
      [
        {
          source: 'SERVICENOW',
          ...TOKEN,
          ...{ instance_subdomain: 'dev1', client_id: 'c', client_secret: 's', redirect_uri: 'u' },
        },
        { ...GRANT, clientId: 'c', clientSecret: 's', facts: { instance: 'dev1' } },
      ],
    ] as [object, object][],
    ([given]) => JSON.stringify(given),
    async ([given, expected]) => expect(await credentialsFor(given)).toMatchObject(expected),
  ));

test('credentials that could lead to another host are refused with the path of their field', () =>
  everyRow(
    [
      [{ source: 'FRESHDESK', domain: 'harbour.example', api_key: 'k' }, 'domain'],
      [{ source: 'FRESHDESK', domain: '-', api_key: 'k' }, 'domain'],
      [{ source: 'AZURE_BLOB_STORAGE', account_name: 'Ada', account_key: 'k' }, 'account_name'],
      [{ source: 'AZURE_BLOB_STORAGE', account_name: 'harbour.evil', account_key: 'k' }, 'account_name'],
      [{ ...S3, endpoint_url: 'ftp://minio.example' }, 'endpoint_url'],
      [{ ...S3, endpoint_url: 'https://user@minio.example' }, 'endpoint_url'],
      [{ ...S3, endpoint_url: 'https://minio.example/?a=b' }, 'endpoint_url'],
      [{ ...S3, endpoint_url: 'minio.example' }, 'endpoint_url'],
      [{ ...S3, endpoint_url: 'http://10.0.0.5' }, 'endpoint_url'],
      [{ source: 'ZENDESK', ...TOKEN, subdomain: 'evil.example/' }, 'subdomain'],
    ] as [object, string][],
    ([given]) => JSON.stringify(given),
    async ([given, field]) =>
      expect(await credentialsFor(given)).toMatchObject({
        ...{ status: 422, detail: [{ loc: ['body', 'authentication', field] }] },
      }),
  ));

test('an account is stored with the identity that its source returns, and all of its runs are started', async () => {
  const { deps, opened, accepted, started } = depsOf();
  const account = {
    ...{ type: 'GITHUB', credentials: { accessToken: 't' }, dataSourceTags: { team: 'red' } },
    ...{ listItems: true, syncFiles: false, options: { requestId: 'r-1' } },
  };
  expect(await connectAccount(ADA, account as never, deps as never)).toBe(SOURCE);
  // The rate limiter counts requests by account name. This account has no id yet, so its name is that of the user.
  expect(opened).toEqual([{ type: 'GITHUB', name: 'user 7', credentials: { accessToken: 't' } }]);
  expect(accepted).toEqual([
    { ...account, ...IDENTITY, credentials: JSON.stringify({ accessToken: 't' }), requestId: 'r-1' },
  ]);
  expect(started).toEqual([31, 32]);
});

test('an account is not stored if its source rejects the credentials (400), limits requests or is too slow (503)', async () => {
  const refused = async (fault: unknown) => {
    const { deps, accepted } = depsOf(() => Promise.reject(fault as Error));
    const account = { type: 'GITHUB', credentials: {}, dataSourceTags: {}, listItems: true, syncFiles: false };
    const error: unknown = await connectAccount(ADA, account as never, deps as never).catch(
      (thrown: unknown) => thrown,
    );
    expect(accepted).toEqual([]);
    return error;
  };
  expect(await refused(new Fault('access_revoked', 'Bad token.'))).toMatchObject({ status: 400, detail: 'Bad token.' });
  const limited = new Fault('rate_limited', 'Busy.', { retryAfterMs: 1_500 });
  expect(await refused(limited)).toMatchObject({ status: 503, retryAfterSeconds: 2 });
  expect(await refused(new DOMException('late', 'TimeoutError'))).toMatchObject({ status: 503 });
});

/** Requests a consent URL. @returns the scopes that are requested from the provider */
async function scopesFor(fields: object): Promise<unknown> {
  const { deps } = depsOf();
  const requested: { scopes?: unknown }[] = [];
  const consent = {
    client: { id: 'client', secret: 's' },
    spec: { scopes: ['built.in'] },
    begin: (_facts: object, request: object) => (
      requested.push(request),
      Promise.resolve({ url: 'https://consent.example', requestToken: null })
    ),
  };
  const attempts = { newState: () => 'state', begin: () => Promise.resolve() };
  const given = { service: 'BOX', connecting_new_account: true, ...fields };
  const body: unknown = oauthUrl.body!.validate(given).value;
  const store = { ...deps.store, attempts, whiteLabels: { credentials: () => Promise.resolve(null) } };
  const call = { caller: ADA, body, deps: { ...deps, store, connectors: { consent: () => consent } } };
  await oauthUrl.handle({ ...call, deps: { ...call.deps, settings: { consentLifeMs: 1_000 } } } as never);
  return requested[0]!.scopes;
}

test('a consent requests the scopes of the request, else those of the source', () =>
  everyRow(
    [
      [{}, ['built.in']],
      [{ scopes: [], scope: '  ' }, ['built.in']],
      [{ scope: null, scopes: null }, ['built.in']],
      [{ scope: ' read  write ' }, ['read', 'write']],
      [{ scope: 'read', scopes: ['own', 'more'] }, ['own', 'more']],
    ] as [object, string[]][],
    ([fields]) => JSON.stringify(fields),
    async ([fields, scopes]) => expect(await scopesFor(fields)).toEqual(scopes),
  ));
