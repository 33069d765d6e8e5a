import { createWebSource, type WebSourceOptions } from '../../../connectors/web/createWebSource.js';
import type { WebSettings } from '../../../connectors/web/webSettings.js';
import type { FetchedPage, PageRequest, SitemapEntry, SitemapProblem, WebSource } from '../../../connectors/types.js';
import { createEgress } from '../../../egress/createEgress.js';
import type { Lookup } from '../../../egress/guard.js';
import { closeAll, egressSettings } from '../../egress/loopback.js';

const closeables: { close(): Promise<void> }[] = [];

export function webSettings(settings: Partial<WebSettings> = {}): WebSettings {
  return {
    maxPageBytes: 1_000_000,
    pageTimeoutMs: 30_000,
    sitemapMaxBytes: 1_000_000,
    sitemapMaxFiles: 10,
    sitemapMaxDepth: 3,
    obeyRobots: false,
    userAgent: 'Allotrope/test',
    requestsPerHost: 8,
    chromiumPath: null,
    installChromium: false,
    browserMaxPages: 100,
    maxDownloadBytes: 1_000_000,
    downloadTimeoutMs: 30_000,
    ...settings,
  };
}

export interface SourceOptions extends Partial<Omit<WebSourceOptions, 'egress' | 'settings'>> {
  readonly settings?: Partial<WebSettings>;
  /** Loopback servers that may be called. Default: all loopback addresses. */
  readonly allowed?: readonly string[];
  readonly lookup?: Lookup;
  readonly premiumProxies?: readonly string[];
}

/** Returns a web source with a real egress, for several tests of a suite. `close` closes both. */
export function openSource({
  settings,
  allowed = ['127.0.0.0/8'],
  lookup,
  premiumProxies = [],
  ...more
}: SourceOptions = {}): { readonly web: WebSource; close(): Promise<void> } {
  const egress = createEgress(
    egressSettings({ allowedPrivateHosts: allowed, premiumProxies }),
    lookup ? { lookup } : {},
  );
  const web = createWebSource({ egress, settings: webSettings(settings), ...more });
  return {
    web,
    async close() {
      await web.close();
      await egress.close();
    },
  };
}

/** Returns a web source with a real egress. closeSources() closes both. */
export function source(options: SourceOptions = {}): WebSource {
  const opened = openSource(options);
  closeables.push(opened);
  return opened.web;
}

export async function closeSources(): Promise<void> {
  for (const closeable of closeables.splice(0)) await closeable.close();
  await closeAll();
}

export interface Listing {
  readonly entries: SitemapEntry[];
  readonly problems: SitemapProblem[];
}

export async function list(web: WebSource, url: string, signal = new AbortController().signal): Promise<Listing> {
  const problems: SitemapProblem[] = [];
  const entries: SitemapEntry[] = [];
  for await (const entry of web.discover(url, signal, (problem) => problems.push(problem))) entries.push(entry);
  return { entries, problems };
}

/** Fetches a page, by default without a browser and without validators such as If-None-Match. Throws on a 304. */
export async function fetchOne(
  web: WebSource,
  url: string,
  more: Partial<Omit<PageRequest, 'url'>> = {},
): Promise<FetchedPage> {
  const page = await web.fetchPage({
    url,
    downloadCssAndMedia: false,
    usePremiumProxies: false,
    known: null,
    signal: new AbortController().signal,
    ...more,
  });
  if (!page) throw new Error('the server answered 304 to a request without validators');
  return page;
}

export const text = (page: FetchedPage): string => Buffer.from(page.bytes).toString();
