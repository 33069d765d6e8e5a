import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import type { SitemapEntry, SitemapProblem } from '../types.js';
import type { SitemapFile } from './sitemapFile.js';
import { shownUrl } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

export interface Discovery {
  readonly settings: WebSettings;
  readonly readFile: (url: string) => Promise<SitemapFile>;
  readonly onProblem: (problem: SitemapProblem) => void;
}

/**
 * Yields the pages of a sitemap in its order, without duplicates. Files of an index are read one after the other. If
 * one of them cannot be read completely, its readable pages are yielded and the problem is reported. Throws a Fault if
 * the sitemap itself cannot be read. If no page is found at all, throws the first reported Fault, or a Fault that names
 * another host if all pages are there.
 */
export async function* discover(
  { settings, readFile, onProblem }: Discovery,
  sitemapUrl: string,
): AsyncGenerator<SitemapEntry, void> {
  const root = normaliseUrl(sitemapUrl);
  if (root === null)
    throw new Fault(
      'address_refused',
      `"${shownUrl(sitemapUrl)}" is not the address of a sitemap. Give one that starts with http:// or https:// and contains no password.`,
    );

  const pages = new Set<string>();
  const files = new Set([root]);
  const hosts = new Set([new URL(root).host]);
  let firstFault: Fault | null = null;
  let pageOnOtherHost: string | null = null;
  const problem = (url: string, fault: Fault): void => {
    firstFault ??= fault;
    onProblem({ url, fault });
  };

  async function* follow(url: string, depth: number): AsyncGenerator<SitemapEntry, void> {
    let file: SitemapFile;
    try {
      file = await readFile(url);
    } catch (error) {
      if (depth === 0 || !(error instanceof Fault)) throw error;
      problem(url, error);
      return;
    }
    // The site itself redirected here, so the target's host counts as the same site.
    if (depth === 0) hosts.add(new URL(file.url).host);

    for (const { location, lastModified } of file.items) {
      const target = normaliseUrl(location, file.url);
      if (target === null) continue;
      if (!hosts.has(new URL(target).host)) {
        pageOnOtherHost ??= target;
        continue;
      }
      if (!file.isIndex) {
        if (pages.has(target)) continue;
        pages.add(target);
        yield { url: target, lastModified };
      } else if (!files.has(target)) {
        files.add(target);
        if (mayRead(target, depth + 1)) yield* follow(target, depth + 1);
      }
    }
    if (file.fault) problem(url, file.fault);
  }

  let filesRead = 1;
  const reportedLimits = new Set<string>();
  function mayRead(target: string, depth: number): boolean {
    const limit =
      depth > settings.sitemapMaxDepth
        ? `it is nested more than ${String(settings.sitemapMaxDepth)} index files deep (setting SITEMAP_MAX_DEPTH)`
        : filesRead >= settings.sitemapMaxFiles
          ? `${String(settings.sitemapMaxFiles)} sitemap files are read at most (setting SITEMAP_MAX_FILES)`
          : null;
    if (limit === null) {
      filesRead += 1;
      return true;
    }
    // Reported once per limit: an index may list 50,000 files too many.
    if (!reportedLimits.has(limit))
      problem(
        target,
        new Fault(
          'too_large',
          `The sitemap ${shownUrl(target)} was not read, and possibly others for the same reason: ${limit}.`,
        ),
      );
    reportedLimits.add(limit);
    return false;
  }

  yield* follow(root, 0);
  if (pages.size > 0) return;
  if (firstFault !== null) throw firstFault as Fault;
  if (pageOnOtherHost !== null) {
    throw new Fault(
      'broken_content',
      `The sitemap ${shownUrl(root)} names only pages on other hosts, such as ${shownUrl(pageOnOtherHost)}. A sitemap is valid for its own host only: give the one of ${new URL(pageOnOtherHost).host}.`,
    );
  }
}
