import { randomBytes, randomUUID } from 'node:crypto';
import Joi from 'joi';

import type { Consent } from '../../../connectors/consent.js';
import { CALLBACK_PATHS, type OAuthClient } from '../../../contract/accounts/oauth.js';
import { workflowIds } from '../../../contract/runs/workflowIds.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../../contract/sources/connectedSources.js';
import type { OAuthSource } from '../../../contract/accounts/whiteLabel.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { ApiDeps } from '../../http/deps.js';
import { HttpError, notFound } from '../../http/errors.js';
import { operation, type UserCaller } from '../../http/operation.js';
import { type OAuthUrlBody, oauthUrlBody, toConnectionOptions, toConnectionActions } from '../../schemas/consent.js';
import { callSource } from '../callSource.js';
import { connectionClient } from './connectionClient.js';
import { connectionFieldsOf } from './connectionFields.js';
import { newConnectionPage } from './newConnectionPage.js';
import { named } from '../../schemas/reference.js';

const notConnectable = (service: OAuthSource): HttpError =>
  new HttpError(400, `${service} cannot be connected in this version.`);

/**
 * POST /integrations/oauth_url: returns the URL for the user's consent or, for a connected account, for selecting
 * items.
 */
export const oauthUrl = operation({
  method: 'post',
  path: '/integrations/oauth_url',
  operationId: 'get_oauth_url_integrations_oauth_url_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Create an address for connecting an account',
  description: [
    `Returns an address to open in the browser of the end user. For a new account it leads to the consent page of the service, and is valid for \`CONSENT_LIFE_S\`. For an account that is connected already it leads to a page of this server on which the user selects items, or lists and syncs the account, valid for \`CONNECT_PAGE_LIFE_S\`.

After the consent the account is connected (event \`ADD\`), listed if \`sync_source_items\` (event \`DATA_SOURCE_READY\` after a complete listing), and synced if \`sync_files_on_connection\`. If the user refuses to renew a known account, the event is \`CANCEL\`. Watch \`POST /user_data_sources\` or the events.

The service needs an OAuth client: of the organization (\`POST /white_label/create\`) or of the deployment (\`OAUTH_CLIENTS\`); without one, the response is 400.`,
  ],
  returns: 'Address to open in the browser of the end user. After CONSENT_LIFE_S or CONNECT_PAGE_LIFE_S it is invalid.',
  createsWork: true,
  body: oauthUrlBody(),
  answer: named(
    'OuthURLResponse',
    Joi.object({
      oauth_url: Joi.string()
        .required()
        .description('Address for the browser of the end user. Give it to this user only.'),
    }).description(
      'URL of a page on which the end user consents to the connection, or selects items of a connected account.',
    ),
  ),
  async handle({ caller, body, deps }) {
    const { service } = body;
    const existingSource = body.connecting_new_account ? null : await knownSource(caller, body, deps);
    if (existingSource && !existingSource.revokedAccess && existingSource.sealedCredentials !== null) {
      const [options, actions] = [toConnectionOptions(service, body), toConnectionActions(service, body)];
      const page = { service, dataSourceId: existingSource._id, options, actions };
      return { oauth_url: await newConnectionPage(caller, page, deps) };
    }
    if (!isConnectedSource(service)) throw notConnectable(service);
    const consent = deps.connectors.consent(service);
    if (!consent) throw notConnectable(service);
    return {
      oauth_url: await consentUrl(
        caller,
        body,
        { existingSource, consent, name: CONNECTED_SOURCES[service].name },
        deps,
      ),
    };
  },
});

/**
 * Returns the data source that the request names, else the user's only active data source of the service, or the only
 * one if none is active. Null if there is none, or if there are several and all are revoked.
 * @throws HttpError 404 if it is not the caller's or belongs to another service; 400 if several match
 */
async function knownSource(
  caller: UserCaller,
  { service, data_source_id: id }: Pick<OAuthUrlBody, 'service' | 'data_source_id'>,
  { store }: ApiDeps,
): Promise<DataSourceDoc | null> {
  if (id !== undefined) {
    const source = await store.dataSources.find(caller, id);
    if (source?.type !== service) throw notFound('data source of this service');
    return source;
  }
  const match = await store.dataSources.findSingle(caller, service);
  if ('source' in match) return match.source;
  // If several exist and all are revoked, the consent determines the account.
  if (match.several === 'revoked') return null;
  throw new HttpError(400, 'Several accounts of this service are connected. Name one by data_source_id.');
}

interface ConsentPlace {
  readonly existingSource: DataSourceDoc | null;
  readonly consent: Consent;
  readonly name: string;
}

/** Returns the URL for the user's consent. */
async function consentUrl(
  caller: UserCaller,
  body: OAuthUrlBody,
  { existingSource, consent, name }: ConsentPlace,
  deps: ApiDeps,
): Promise<string> {
  const { store, unit, settings } = deps;
  const { service } = body;
  const ownClient = connectionClient(service, body, deps);
  const parameters = ownClient?.parameters ?? connectionFieldsOf(service, body);
  const { client, redirectUri } = ownClient ?? (await clientOf(caller, service, { consent, name }, deps));
  const verifier = randomBytes(48).toString('base64url');
  const runId = await store.runs.nextId();
  const options = toConnectionOptions(service, body);
  const state = store.attempts.newState();
  const consentRequest = {
    clientId: client.id,
    clientSecret: client.secret,
    redirectUri,
    state,
    scopes: scopesOf(body, consent),
    verifier,
  };
  const { url, requestToken } = await callSource(name, () => consent.begin(parameters, consentRequest));
  await unit.transaction(async (session) => {
    const workflowId = workflowIds.connect(runId);
    const run = { kind: 'connectByConsent', workflowId, owner: caller, fileId: null } as const;
    await store.runs.accept(runId, { ...run, requestId: options.requestId ?? randomUUID() }, session);
    await store.attempts.begin(
      {
        ...{ _id: runId, ...caller, service, clientId: client.id, redirectUri, facts: { ...parameters }, options },
        actions: toConnectionActions(service, body),
        knownSourceId: existingSource?._id ?? null,
        expiresAt: new Date(Date.now() + settings.consentLifeMs),
      },
      state,
      { verifier, clientSecret: ownClient?.client.secret ?? null, requestToken },
      session,
    );
  });
  unit.start(runId);
  return url;
}

/** Returns the organization's OAuth client, else the deployment's. @throws HttpError 400 if there is neither */
async function clientOf(
  { organizationId }: UserCaller,
  service: OAuthSource,
  { consent, name }: Pick<ConsentPlace, 'consent' | 'name'>,
  { store, publicUrl }: ApiDeps,
): Promise<{ client: OAuthClient; redirectUri: string }> {
  const ownCredentials = await store.whiteLabels.credentials(organizationId, service);
  if (ownCredentials)
    return {
      client: { id: ownCredentials.client_id, secret: ownCredentials.client_secret ?? null },
      redirectUri: ownCredentials.redirect_uri,
    };
  if (consent.client)
    return { client: consent.client, redirectUri: `${publicUrl()}/integrations/${CALLBACK_PATHS[service]}` };
  throw new HttpError(
    400,
    `No OAuth client for ${name} is configured. The operator of this service can set OAUTH_CLIENTS=${service}=id:secret, or the organization can add its own client with POST /white_label/create.`,
  );
}

/** Returns the scopes of the request; without any, those of the source's specification. */
function scopesOf({ scopes, scope = '' }: OAuthUrlBody, { spec }: Consent): readonly string[] {
  if (scopes.length > 0) return scopes;
  const single = scope.split(/\s+/).filter((word) => word !== '');
  return single.length > 0 ? single : spec.scopes;
}
