/** SharePoint sites of Microsoft Graph. */
import type { Call } from '../emulator.js';
import { refuse, sendOne, sendPage } from './answers.js';
import { answerDrive, type DriveAnswers, driveJson, type EmulatedDrive } from './drives.js';

export const SITE_HOST = 'harbour.sharepoint.com';

export interface EmulatedPage {
  title: string;
  /** HTML of its text parts, in order. */
  parts: string[];
  /** Searchable texts of a web part that is not a text part. */
  plain?: string[];
  version: number;
  /** Whether the page's layout is invalid: https://github.com/SharePoint/sp-dev-docs/issues/8822 */
  isBroken?: boolean;
}

export interface EmulatedSite {
  readonly id: string;
  readonly displayName: string;
  /** Ids of its document libraries, the default one first. */
  readonly drives: string[];
  /** Pages by GUID. */
  readonly pages: Map<string, EmulatedPage>;
}

/** Sites by path: '' is the root site, others are `sites/Name`. */
export type Sites = Map<string, EmulatedSite>;

export const siteId = (number: number): string => `${SITE_HOST},00000000-0000-0000-0000-00000000000${number},1`;

const siteJson = (path: string, { id, displayName }: EmulatedSite): Record<string, unknown> => ({
  id,
  name: path.split('/').at(-1) ?? '',
  displayName,
  webUrl: `https://${SITE_HOST}${path === '' ? '' : `/${path}`}`,
  createdDateTime: '2026-03-03T10:00:00Z',
});

function pageJson(id: string, { title, parts, plain = [], version }: EmulatedPage, isWhole: boolean) {
  const text = parts.map((innerHtml, at) => ({
    '@odata.type': '#microsoft.graph.textWebPart',
    id: `00000000-0000-0000-0001-00000000000${at}`,
    innerHtml,
  }));
  const other = {
    id: '00000000-0000-0000-0002-000000000000',
    '@odata.type': '#microsoft.graph.standardWebPart',
    data: { serverProcessedContent: { searchablePlainTexts: plain.map((value) => ({ key: 'title', value })) } },
  };
  const canvasLayout = {
    horizontalSections: [{ id: '1', layout: 'oneColumn', columns: [{ id: '1', width: 12, webparts: text }] }],
    verticalSection: { id: '1', webparts: [other] },
  };
  return {
    '@odata.type': '#microsoft.graph.sitePage',
    id,
    name: `${title}.aspx`,
    title,
    webUrl: `https://${SITE_HOST}/SitePages/${encodeURIComponent(title)}.aspx`,
    createdDateTime: '2026-03-03T10:00:00Z',
    eTag: `"{${id}},${version}"`,
    ...(isWhole ? { canvasLayout } : {}),
  };
}

/** Answers a request below /sites. @param rest path segments after /sites */
export function answerSites(call: Call, sites: Sites, rest: readonly string[], to: DriveAnswers): void {
  const { response, query } = call;
  const missing = (): void => refuse(response, { status: 404 });
  const [siteSegment = '', second, third, fourth] = rest;
  if (siteSegment === '')
    return query.has('search')
      ? sendPage(
          call,
          [...sites].map(([path, site]) => siteJson(path, site)),
          to.pageSize,
        )
      : refuse(response, { status: 400 });
  const path = siteSegment === 'root' ? '' : siteSegment === `${SITE_HOST}:` ? rest.slice(1).join('/') : null;
  if (path !== null) {
    // SharePoint ignores the case of addresses.
    const found = [...sites].find(([name]) => name.toLowerCase() === path.toLowerCase());
    return found ? sendOne(call, siteJson(...found)) : missing();
  }
  const site = [...sites.values()].find(({ id }) => id === siteSegment);
  if (!site) return missing();
  const drives = site.drives.flatMap((id): EmulatedDrive[] => {
    const drive = to.drives.all.get(id);
    return drive ? [drive] : [];
  });
  if (second === 'drives') return sendPage(call, drives.map(driveJson), to.pageSize);
  if (second === 'drive') return answerDrive(call, drives[0], rest.slice(2), to);
  if (second !== 'pages') return missing();
  if (third === 'microsoft.graph.sitePage')
    return sendPage(
      call,
      [...site.pages].map(([id, page]) => pageJson(id, page, false)),
      to.pageSize,
    );
  const page = fourth === 'microsoft.graph.sitePage' ? site.pages.get(third ?? '') : undefined;
  if (page?.isBroken === true && query.has('$expand')) return refuse(response, { status: 400, code: 'invalidRequest' });
  return page ? sendOne(call, pageJson(third ?? '', page, query.get('$expand') === 'canvasLayout')) : missing();
}
