/** The OAuth scopes that each source requests, compared with the scopes that the provider documents for our calls. */
import { afterAll, expect, test } from '@jest/globals';

import { createConnectors } from '../../connectors/registry.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { OAUTH_SOURCES, type OAuthSource } from '../../contract/accounts/whiteLabel.js';
import { everyRow } from '../support/everyRow.js';
import { loopbackEgress } from './account.js';

/** A scope, the calls that fail without it, and the address of the documentation of the provider. */
interface Need {
  readonly scope: string;
  readonly calls: string;
  readonly documentation: string;
}
const GRAPH = 'https://learn.microsoft.com/graph/';
const microsoft = (...needs: Need[]): readonly Need[] => [
  {
    scope: 'offline_access',
    calls: 'refresh tokens',
    documentation: 'https://learn.microsoft.com/entra/identity-platform/scopes-oidc',
  },
  { scope: 'User.Read', calls: 'GET /me', documentation: `${GRAPH}api/user-get` },
  ...needs,
];
const GOOGLE = 'https://www.googleapis.com/auth/';
const CONFLUENCE = 'https://developer.atlassian.com/cloud/confluence/rest/v2/';
const SLACK = 'https://docs.slack.dev/reference/';
const GONG = 'https://help.gong.io/docs/create-an-app-for-gong';
const ZOTERO = 'https://www.zotero.org/support/dev/web_api/v3/oauth';
const DROPBOX = 'https://www.dropbox.com/developers/documentation/http/documentation';

const slackKinds = ['channels', 'groups', 'im', 'mpim'].flatMap((kind): Need[] => [
  {
    scope: `${kind}:read`,
    calls: 'conversations.list, conversations.info',
    documentation: `${SLACK}methods/conversations.list`,
  },
  {
    scope: `${kind}:history`,
    calls: 'conversations.history, conversations.replies',
    documentation: `${SLACK}methods/conversations.history`,
  },
]);

const NEEDS: Readonly<Record<OAuthSource, readonly Need[]>> = {
  BOX: [
    {
      scope: 'root_readonly',
      calls: 'users/me, folders, files, events',
      documentation: 'https://developer.box.com/guides/api-calls/permissions-and-errors/scopes/',
    },
  ],
  CONFLUENCE: [
    {
      scope: 'offline_access',
      calls: 'refresh tokens',
      documentation: 'https://developer.atlassian.com/cloud/confluence/oauth-2-3lo-apps/',
    },
    {
      scope: 'read:me',
      calls: 'GET /me',
      documentation: 'https://developer.atlassian.com/cloud/confluence/oauth-2-3lo-apps/',
    },
    { scope: 'read:space:confluence', calls: 'GET /spaces', documentation: `${CONFLUENCE}api-group-space/` },
    // Blog posts have no separate scope in this API.
    { scope: 'read:page:confluence', calls: 'GET /pages, /blogposts', documentation: `${CONFLUENCE}api-group-page/` },
    { scope: 'read:folder:confluence', calls: 'GET /folders/{id}', documentation: `${CONFLUENCE}api-group-folder/` },
    {
      scope: 'read:hierarchical-content:confluence',
      calls: 'GET /pages/{id}/direct-children, /folders/{id}/direct-children',
      documentation: `${CONFLUENCE}api-group-children/`,
    },
  ],
  DROPBOX: [
    {
      scope: 'account_info.read',
      calls: 'users/get_current_account',
      documentation: `${DROPBOX}#users-get_current_account`,
    },
    { scope: 'files.metadata.read', calls: 'files/list_folder', documentation: `${DROPBOX}#files-list_folder` },
    { scope: 'files.content.read', calls: 'files/download, files/export', documentation: `${DROPBOX}#files-download` },
  ],
  // drive.metadata.readonly would allow listing files, but not reading them.
  GOOGLE_DRIVE: [
    {
      scope: `${GOOGLE}drive.readonly`,
      calls: 'files.get with alt=media, files.export, files.list, changes.list, drives.get, about.get',
      documentation: 'https://developers.google.com/workspace/drive/api/reference/rest/v3/files/get',
    },
  ],
  // gmail.metadata allows neither the parameter q nor message bodies.
  GMAIL: [
    {
      scope: `${GOOGLE}gmail.readonly`,
      calls: 'messages.get, messages.list with q, attachments.get, history.list, labels.list, getProfile',
      documentation: 'https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/get',
    },
  ],
  GOOGLE_CLOUD_STORAGE: [
    {
      scope: 'openid',
      calls: 'GET userinfo',
      documentation: 'https://developers.google.com/identity/openid-connect/openid-connect',
    },
    {
      scope: 'email',
      calls: 'email in userinfo',
      documentation: 'https://developers.google.com/identity/openid-connect/openid-connect',
    },
    {
      scope: `${GOOGLE}devstorage.read_only`,
      calls: 'buckets.list, objects.list, objects.get',
      documentation: 'https://cloud.google.com/storage/docs/oauth-scopes',
    },
    {
      scope: `${GOOGLE}cloudplatformprojects.readonly`,
      calls: 'projects.list',
      documentation: 'https://cloud.google.com/resource-manager/reference/rest/v1/projects/list',
    },
  ],
  // The permissions of an app are set where it is registered:
  // https://developers.intercom.com/docs/build-an-integration/learn-more/authentication/oauth-scopes
  INTERCOM: [],
  // The capabilities are set with the integration, and its user selects the pages:
  // https://developers.notion.com/reference/capabilities
  NOTION: [],
  // Files.Read covers only the drive of the user.
  ONEDRIVE: microsoft({
    scope: 'Files.Read.All',
    calls: 'GET /me/drives, /drives/{id}/items/{id}/children, /content, /drives/{id}/root/delta',
    documentation: `${GRAPH}permissions-reference#filesreadall`,
  }),
  // Mail.ReadBasic excludes bodies and attachments.
  OUTLOOK: microsoft(
    {
      scope: 'Mail.Read',
      calls: 'GET /me/messages/{id} with body, /me/messages/{id}/attachments, /me/mailFolders/{id}/messages/delta',
      documentation: `${GRAPH}permissions-reference#mailread`,
    },
    {
      scope: 'MailboxSettings.Read',
      calls: 'GET /me/outlook/masterCategories',
      documentation: `${GRAPH}api/outlookuser-list-mastercategories`,
    },
  ),
  SHAREPOINT: microsoft(
    { scope: 'Sites.Read.All', calls: 'GET /sites, /sites/{id}/pages', documentation: `${GRAPH}api/sitepage-list` },
    {
      scope: 'Files.Read.All',
      calls: 'GET /sites/{id}/drives, /drives/{id}/items/{id}/content, /drives/{id}/root/delta',
      documentation: `${GRAPH}permissions-reference#filesreadall`,
    },
  ),
  // Salesforce has no read-only scope.
  SALESFORCE: [
    {
      scope: 'api',
      calls: 'GET /services/data/…',
      documentation: 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_tokens_scopes.htm',
    },
    {
      scope: 'refresh_token',
      calls: 'refresh tokens',
      documentation: 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_tokens_scopes.htm',
    },
  ],
  SLACK: [...slackKinds, { scope: 'users:read', calls: 'users.info', documentation: `${SLACK}methods/users.info` }],
  ZENDESK: [
    {
      scope: 'read',
      calls: 'GET of tickets, of the help center and of users',
      documentation: 'https://developer.zendesk.com/api-reference/ticketing/oauth/oauth_tokens/',
    },
  ],
  ZOTERO: [
    { scope: 'library_access=1', calls: 'GET /users/{id}/items', documentation: ZOTERO },
    { scope: 'notes_access=1', calls: 'notes of GET /users/{id}/items', documentation: ZOTERO },
    { scope: 'all_groups=read', calls: 'GET /groups/{id}/items', documentation: ZOTERO },
  ],
  GONG: [
    { scope: 'api:calls:read:basic', calls: 'GET /v2/calls', documentation: GONG },
    { scope: 'api:calls:read:extensive', calls: 'POST /v2/calls/extensive', documentation: GONG },
    { scope: 'api:calls:read:transcript', calls: 'POST /v2/calls/transcript', documentation: GONG },
    { scope: 'api:workspaces:read', calls: 'GET /v2/workspaces', documentation: GONG },
    { scope: 'api:library:read', calls: 'GET /v2/library/folders, /v2/library/folder-content', documentation: GONG },
  ],
  // An instance has no narrower scope, unless its administrator defines one.
  SERVICENOW: [
    {
      scope: 'useraccount',
      calls: 'GET /api/now/table, /api/now/attachment',
      documentation: 'https://www.servicenow.com/docs/r/platform-security/authentication/rest-api-auth-scope.html',
    },
  ],
};

const egress = loopbackEgress();
afterAll(() => egress.close());
const connectors = createConnectors({ egress, urls: readSourceUrls(''), maxItemBytes: 1 });
const scopesOf = (source: OAuthSource): readonly string[] => connectors.consent(source)!.spec.scopes;

test('requests exactly the scopes that the calls of each source need', () =>
  everyRow(OAUTH_SOURCES, String, (source) => {
    const needs = NEEDS[source].map(({ scope }) => scope);
    expect([...scopesOf(source)].toSorted()).toEqual(needs.toSorted());
  }));

test('requests no scope with write access if the provider has a read-only scope', () =>
  everyRow(OAUTH_SOURCES, String, (source) => {
    for (const scope of scopesOf(source))
      expect(scope).not.toMatch(/write|manage|full|modify|send|create|delete|admin/i);
    const { write_access = '0' } = connectors.consent(source)!.spec.authorizeParameters;
    expect(write_access).toBe('0');
  }));
