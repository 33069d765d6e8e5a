import type { Site as GraphSite } from '@microsoft/microsoft-graph-types';

import { Fault } from '../../../contract/failures.js';
import type { GrantClient, SourceClient } from '../../accountClient.js';
import { decodedPath, withCallerId, type Query } from '../graph.js';
import { noSuchItem } from '../../faults.js';
import { type Answer, asText } from '../../json.js';

export const NAME = 'SharePoint';

/** A site id: a host and two GUIDs. */
const SITE_ID = /^[\w.-]+,[\w-]+,[\w-]+$/;
/** A segment of a site's path; further segments are names of subsites. */
const PART = /^[\p{L}\p{N}_~ ()-][\p{L}\p{N}_~. ()-]*$/u;
/** Path segments that precede the names of sites. */
const KINDS: ReadonlySet<string> = new Set(['sites', 'teams', 'portals']);

/** The site that an account is connected to. */
export interface Site {
  readonly id: string;
  /** `harbour.sharepoint.com`. */
  readonly host: string;
  /**
   * Name of the site as SharePoint spells it in the site's URL; `givenName` if the URL does not show it; '' for the
   * tenant's root site. SharePoint ignores the case of names. The account id contains this name, so each spelling of a
   * caller leads to the same account.
   */
  readonly name: string;
  /** Name of the site as the caller wrote it. */
  readonly givenName: string;
  readonly json: Answer<GraphSite>;
}

const noSite = (): Fault => new Fault('server_error', 'SharePoint returned no site. Try again.');

export function hostOf(site: Answer<GraphSite>): string {
  const url = asText(site.webUrl);
  if (url === null || !URL.canParse(url)) throw noSite();
  return new URL(url).host;
}

/**
 * Converts a site name to a path. `Marketing` means `sites/Marketing`; `teams/Marketing` is another site. @throws
 * Fault for an invalid name
 */
export function pathOfSite(name: string): readonly string[] {
  const parts = name.split('/').filter((part) => part !== '');
  if (parts.length > 10 || parts.some((part) => !PART.test(part))) throw noSuchItem(NAME);
  if (parts.length === 0) return [];
  return KINDS.has(parts[0]?.toLowerCase() ?? '') ? parts : ['sites', ...parts];
}

const SITE_FIELDS = 'id,name,displayName,webUrl,createdDateTime';

export const rootSite = (client: SourceClient): Promise<Answer<GraphSite>> =>
  client.get(['sites', 'root'], { $select: SITE_FIELDS });

/** Returns the site that the connection names. @throws Fault not_found if the tenant has no such site */
export async function siteOf(client: GrantClient): Promise<Site> {
  const { facts } = client.credentials;
  const path = pathOfSite(facts['site'] ?? '');
  const root = await rootSite(client);
  const host = hostOf(root);
  const json: Answer<GraphSite> =
    path.length === 0
      ? root
      : await withCallerId(NAME, client.get(['sites', `${host}:`, ...path], { $select: SITE_FIELDS }));
  const id = asText(json.id);
  if (id === null || !SITE_ID.test(id)) throw noSite();
  const givenName = path.join('/').replace(/^sites\//, '');
  const name = path.length === 0 ? '' : (nameOfSite(json, host) ?? givenName);
  return { id, host, name, givenName, json };
}

/** Returns the name by which a user connects to a site; null for the root site, undefined if it has none. */
export function nameOfSite(site: Answer<GraphSite>, host: string): string | null | undefined {
  const url = asText(site.webUrl);
  if (url === null || !URL.canParse(url)) return undefined;
  const { host: where, pathname } = new URL(url);
  if (where !== host) return undefined;
  const path = decodedPath(pathname);
  if (path === null) return undefined;
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0) return null;
  return KINDS.has(parts[0] ?? '') && parts.length > 1 ? parts.join('/').replace(/^sites\//, '') : undefined;
}

/** Returns the path of a site's document libraries. */
export const drivesOf = ({ id }: Site): readonly string[] => ['sites', id, 'drives'];
export const LIBRARIES: Query = { $select: 'id,name,webUrl,createdDateTime,driveType' };
