/**
 * SharePoint: the document libraries and pages of one site. https://learn.microsoft.com/graph/api/resources/sharepoint
 */
import type { LiveReads, SitesPage } from '../../../contract/sources/liveReads.js';
import { callerCursor, queryOf, withRootsCursor } from '../../cursors.js';
import type { Connector, LiveRead } from '../../connector.js';
import type { OAuthGrant } from '../../oauthSpec.js';
import type { GrantClient } from '../../accountClient.js';
import { itemOfDrive } from '../drives/adapter.js';
import { listDriveDescendants, openFile } from '../drives/driveSource.js';
import { appLimit, classify, identifyUser, microsoftOAuth, type Query, fetchPage, isQuery } from '../graph.js';
import { siteChanges } from './changes.js';
import { listSitePages, isPages, itemOfPages, openPage } from './pages.js';
import { drivesOf, hostOf, LIBRARIES, NAME, nameOfSite, rootSite, siteOf } from './site.js';
import { asText, type Json } from '../../json.js';
import { bearer } from '../../bearer.js';

const SITES_CURSOR = callerCursor(queryOf(['search', '$select', '$top', '$skiptoken', '$skip']));

const SITES: Query = { search: '*', $select: 'id,name,displayName,webUrl' };

const sites: LiveRead<OAuthGrant, LiveReads['sites']> = async (client, { cursor }) => {
  const host = hostOf(await rootSite(client));
  const query = cursor === null ? SITES : SITES_CURSOR.read(cursor);
  const { values, next } = await fetchPage(client, ['sites'], query);
  const listed = (site: Json): SitesPage['sites'][number][] => {
    const id = asText(site['id']);
    const name = nameOfSite(site, host);
    const url = asText(site['webUrl']);
    if (id === null || name === undefined || url === null) return [];
    const title = asText(site['displayName']) ?? asText(site['name']) ?? name ?? id;
    return [{ id, site_name: name, site_display_name: title, site_url: url }];
  };
  return {
    sites: values.flatMap(listed),
    next_cursor: SITES_CURSOR.write(next),
  };
};

export const sharePoint: Connector<OAuthGrant> = {
  about: {
    listed: 'document libraries of one site with folders and files, and its pages',
    ingested: 'each file, each page; no lists, no OneNote notebooks',
    unchangedBy: 'the hash of a file, or time of change and size if it has no hash; eTag of a page',
    deletions: 'pages have no change feed: a page that is missing from their listing counts as deleted',
    limits: '5,000 libraries, 5,000 pages',
  },
  oauth: microsoftOAuth(['Sites.Read.All', 'Files.Read.All']),
  headers: bearer,
  classify,
  sharedLimit: appLimit,

  async identify(client) {
    const { account, metadata } = await identifyUser(client);
    const { host, name, givenName, id } = await siteOf(client);
    const tenant = host.split('.')[0] ?? host;
    const accountAt = (site: string): string => `${account}|${site === '' ? tenant : `${tenant}/${site}`}`;
    return {
      account: accountAt(name),
      // Older versions of this service built the id from the name as the caller wrote it.
      ...(givenName === name ? {} : { formerAccount: accountAt(givenName) }),
      metadata: { ...metadata, site_id: id, site_host: host, site_name: name === '' ? null : name },
    };
  },

  listRoots: withRootsCursor(isQuery, async (client: GrantClient, query) => {
    const site = await siteOf(client);
    const { values, next } = await fetchPage(client, drivesOf(site), query ?? LIBRARIES);
    const drives = values.flatMap((drive) => itemOfDrive(drive) ?? []);
    // The item that contains the pages follows the libraries.
    return next === null ? { items: [...drives, itemOfPages(site)], next: null } : { items: drives, next };
  }),

  async listDescendants(client, externalId, cursor) {
    if (isPages(externalId)) return listSitePages(client, { site: await siteOf(client), externalId }, cursor);
    const defaultDrive = async () => ['sites', (await siteOf(client)).id, 'drive'];
    return listDriveDescendants(client, { externalId, name: NAME, defaultDrive }, cursor);
  },

  async open(client, externalId) {
    if (isPages(externalId)) return openPage(client, await siteOf(client), externalId);
    return openFile(client, externalId, NAME);
  },

  changes: siteChanges,
  reads: { sites },
};
