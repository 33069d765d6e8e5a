/**
 * Salesforce: files of its libraries, published articles, and direct queries of its CRM.
 * https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/
 */
import { SALESFORCE_HOST } from '../../contract/accounts/oauth.js';
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import {
  bodyFieldsOf,
  contentOfArticle,
  contentOfFile,
  ELSEWHERE,
  itemOfArticle,
  itemOfFile,
  LOOSE_FILES,
  parseItemId,
} from './adapter.js';
import { looseFileChanges } from './changes.js';
import { crmReads } from './crm.js';
import { articleAt, listContainer, listKnowledge, listLooseFiles, fileAt, listRoots, siteOf } from './listing.js';
import { runQuery, classify, quote, waitMs } from './soql.js';
import { incompleteAnswer, isFault, noSuchItem } from '../faults.js';
import { bearer } from '../bearer.js';
import type { GrantClient } from '../accountClient.js';
import { asText, type Json } from '../json.js';
/** Sign-in hosts, which belong to no organization. */
const LOGIN_HOST = /^(?:login|test)\.salesforce\.com$/i;

/**
 * Returns the organization's host, from the consent or from the caller. @throws Fault for a host that is not
 * Salesforce's
 */
function instanceOf({ instance_url: url = '', domain = '' }: OAuthGrant['facts']): string {
  const host = URL.canParse(url) ? new URL(url).hostname : domain;
  if (!SALESFORCE_HOST.test(host) || LOGIN_HOST.test(host))
    throw new Fault('bad_response', 'Salesforce returned no address of the organization. Connect it again.');
  return host;
}

/** The URL of a user's identity: `https://login.salesforce.com/id/00D…/005…`. */
const IDENTITY = /\/id\/(00D\w{12,15})\/(005\w{12,15})$/;

/**
 * Returns the user in the form of userinfo, by the scope `api` alone. An organization may grant less than userinfo
 * needs, but the list of resources contains the ids of the user and of the organization.
 * https://help.salesforce.com/apex/HTViewHelpDoc?id=xcloud.remoteaccess_oauth_tokens_scopes.htm (the scope `id` gives
 * the identity)
 */
async function userByApi(client: GrantClient): Promise<Json> {
  const { identity } = await client.get([], {});
  const [, organization, user] = IDENTITY.exec(asText(identity) ?? '') ?? [];
  if (organization === undefined || user === undefined)
    throw incompleteAnswer('Salesforce', 'the identity of the user');
  const [row = {}] = (await runQuery(client, `SELECT Username, Name, Email FROM User WHERE Id = ${quote(user)}`)).rows;
  const { Username: preferred, Name: name, Email: email } = row;
  return { user_id: user, organization_id: organization, preferred_username: preferred, name, email };
}

async function userOf(client: GrantClient): Promise<Json> {
  try {
    return await client.get(['userinfo'], {}, { at: 'identity' });
  } catch (error) {
    if (!isFault(error, 'access_denied')) throw error;
    return userByApi(client);
  }
}

export const salesforce: Connector<OAuthGrant> = {
  about: {
    listed: 'libraries, folders, files, published articles',
    ingested:
      'each file, each article in each of its languages; records of its CRM are not stored: each call of `/integrations/data/crm/…` requests them',
    unchangedBy: 'version of a file; version and time of change of an article',
    deletions:
      'the feed contains only files outside of libraries; libraries and articles are listed completely in each sync; unpublished articles count as deleted',
    limits: 'files that are links cannot be selected; records to which files are attached are not listed',
  },
  oauth: {
    scopes: ['api', 'refresh_token'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    scopeAliases: { api: ['full'], refresh_token: ['offline_access'] },
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    // Without prompt, a user who has consented before is not asked again, and there may be no refresh token.
    authorizeParameters: { prompt: 'consent' },
    // Whether refresh tokens rotate depends on the organization's settings; true is safe in both cases.
    rotates: true,
    tokenResponseFields: { instance_url: 'instance_url' },
  },
  urlParameters: ({ facts }) => ({ ...facts, instance: instanceOf(facts) }),
  headers: bearer,
  classify,
  waitMs,

  async identify(client) {
    const { facts } = client.credentials;
    const user = await userOf(client);
    const name = asText(user['preferred_username']) ?? asText(user['email']);
    const organization = asText(user['organization_id']);
    if (name === null || organization === null)
      throw new Fault('server_error', 'Salesforce returned no user. Try again.');
    const userFacts = {
      user_id: asText(user['user_id']),
      user_name: asText(user['name']),
      email: asText(user['email']),
    };
    const instance = instanceOf(facts);
    return {
      account: `${name.toLowerCase()}|${instance.toLowerCase()}`,
      metadata: {
        ...{ organization_id: organization, instance },
        ...Object.fromEntries(Object.entries(userFacts).filter(([, value]) => value !== null)),
      },
    };
  },

  listRoots,

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    switch (itemRef?.kind) {
      case undefined:
        throw noSuchItem('Salesforce');
      case 'loose':
        return listLooseFiles(client, cursor);
      case 'knowledge':
        return listKnowledge(client, cursor);
      case 'library':
      case 'folder':
        return listContainer(client, itemRef, cursor);
      case 'file': {
        const row = await fileAt(client, itemRef.id);
        const library = asText(row['ParentId']);
        const root = library === null ? LOOSE_FILES : `library:${library}`;
        return { items: [itemOfFile(row, { parent: root, root }, siteOf(client))], next: null };
      }
      case 'article': {
        const item = itemOfArticle(await articleAt(client, itemRef, []), siteOf(client));
        return { items: item === null ? [] : [item], next: null };
      }
    }
  },

  changes: looseFileChanges,

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    switch (itemRef?.kind) {
      case 'file': {
        const row = await fileAt(client, itemRef.id);
        const version = asText(row['LatestPublishedVersionId']);
        if (version === null || !itemOfFile(row, { parent: null, root: null }, '').hasContent)
          throw new Fault('unsupported_type', ELSEWHERE);
        const { bytes } = await client.content(['sobjects', 'ContentVersion', version, 'VersionData'], {});
        return contentOfFile(row, bytes, siteOf(client));
      }
      case 'article': {
        // Each organization defines its own fields.
        const { fields } = await client.get(['sobjects', 'Knowledge__kav', 'describe'], {});
        if (!Array.isArray(fields)) throw incompleteAnswer('Salesforce', 'the fields of articles');
        const body = bodyFieldsOf(fields);
        const names = body.map(({ name }) => name);
        return contentOfArticle(await articleAt(client, itemRef, names), body, siteOf(client));
      }
      case undefined:
        throw noSuchItem('Salesforce');
      case 'loose':
      case 'knowledge':
      case 'library':
      case 'folder':
        throw new Fault('unsupported_type', 'This Salesforce container has no text of its own: sync the items in it.');
    }
  },

  reads: crmReads,
};
