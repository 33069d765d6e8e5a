import { gzipSync } from 'node:zlib';

import { type Page, samplePage, type Site, sitemapOf, startSite } from './site.js';
import { REDIRECT_TRAPS, STATUS_TRAPS } from './traps/answers.js';
import { BODY_TRAPS } from './traps/bodies.js';
import { CHARSET_TRAPS, CONTENT_TRAPS } from './traps/contents.js';
import { SLOWNESS_TRAPS } from './traps/slowness.js';
import { html, type Origins, redirect, type Trap } from './traps/trap.js';

/**
 * Faulty pages. Their outcomes assume the default timeouts of requests, two retries of each page, and the MAX_PAGE_BYTES
 * of traps/bodies.ts.
 */
export const TRAPS: readonly Trap[] = [
  ...REDIRECT_TRAPS,
  ...STATUS_TRAPS,
  ...BODY_TRAPS,
  ...CHARSET_TRAPS,
  ...CONTENT_TRAPS,
];

/** Number of ordinary pages, each listed in at least one sitemap. */
const ORDINARY = 100;
/** Number of ordinary pages that /slow.xml lists too. */
export const ORDINARY_IN_SLOW = 20;
const ordinary = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `/pages/${from + index}.html`);

/** Sitemap files that cannot be read completely, each with a pattern of its message in `sitemap_problems`. */
export const BROKEN_SITEMAPS: Readonly<Record<string, RegExp>> = {
  '/sitemaps/broken.xml': /is broken XML \(line 2/,
  '/sitemaps/entities.xml': /is broken XML/,
  '/sitemaps/absent.xml': /does not exist.*HTTP 404/,
  '/sitemaps/a-page.xml': /is a web page, not a sitemap/,
  '/sitemaps/feed.xml': /is a feed, not a sitemap/,
  '/sitemaps/empty.xml': /is empty/,
  '/sitemaps/half.xml.gz': /damaged/,
  '/sitemaps/to-metadata.xml': /169\.254\.169\.254 is never called/,
  '/sitemaps/circle.xml': /redirects in a loop/,
  '/sitemaps/deep-4.xml': /more than 3 index files deep/,
};

const indexOf = (origin: string, files: readonly string[]): string =>
  `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${files
    .map((file) => `<sitemap><loc>${file.startsWith('/') ? origin + file : file}</loc></sitemap>`)
    .join('')}</sitemapindex>`;

/** Returns sitemap files of every kind, valid and faulty. */
function sitemaps({ own, foreign }: Origins): Record<string, Page> {
  const validSitemap = sitemapOf(own, ordinary(77, 80));
  const bomb = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>';
  return {
    '/sitemap.xml': indexOf(own, [
      '/sitemaps/plain.xml',
      '/sitemaps/packed.xml.gz',
      '/sitemaps/list.txt',
      '/sitemaps/relative.xml',
      '/sitemaps/deep-1.xml',
      '/sitemaps/moved.xml',
      '/sitemaps/traps.xml',
      `${foreign}/sitemap.xml`,
      'sitemaps/by-relative-address.xml',
      // The index lists itself, and a sitemap that it has already listed.
      '/sitemap.xml',
      '/sitemaps/plain.xml',
      ...Object.keys(BROKEN_SITEMAPS).filter((path) => !path.includes('deep')),
    ]),
    '/sitemaps/plain.xml': sitemapOf(own, [...ordinary(0, 33), ...ordinary(30, 33)]),
    '/sitemaps/packed.xml.gz': { type: 'application/x-gzip', body: gzipSync(sitemapOf(own, ordinary(30, 50))) },
    '/sitemaps/list.txt': {
      body: `\ufeff# all of them\r\n${ordinary(50, 60)
        .map((path) => own + path)
        .join('\r\n')}\r\nnot an address\r\n`,
    },
    '/sitemaps/relative.xml': `<urlset>
      <url><loc>/pages/60.html</loc></url><url><loc>../pages/61.html#part</loc></url>
      <url><loc><![CDATA[ ${own}/pages/62.html ]]></loc></url><url><loc>${own.toUpperCase()}/pages/62.html</loc></url>
      <url><loc>${foreign}/open</loc></url><url><loc>${foreign}/never</loc></url>
      <url><loc>javascript:alert(1)</loc></url><url><loc>http://me:secret@127.0.0.1/</loc></url>
      <url><loc></loc></url><url></url><url><loc>${own}/${'x'.repeat(5000)}</loc></url></urlset>`,
    '/sitemaps/deep-1.xml': indexOf(own, ['/sitemaps/deep-2.xml', '/sitemaps/deep-1.xml', '/sitemap.xml']),
    '/sitemaps/deep-2.xml': indexOf(own, ['/sitemaps/three-deep.xml', '/sitemaps/deep-1.xml', '/sitemaps/deep-3.xml']),
    '/sitemaps/three-deep.xml': sitemapOf(own, ordinary(63, 68)),
    '/sitemaps/deep-3.xml': indexOf(own, ['/sitemaps/deep-4.xml']),
    '/sitemaps/moved.xml': redirect('/sitemaps/moved-here.xml', 301),
    '/sitemaps/moved-here.xml': sitemapOf(own, ordinary(68, 74)),
    '/sitemaps/by-relative-address.xml': sitemapOf(own, ordinary(74, 77)),
    '/sitemaps/traps.xml': sitemapOf(
      own,
      TRAPS.map(({ name }) => `/traps/${name}`),
    ),
    '/slow.xml': sitemapOf(own, [
      ...SLOWNESS_TRAPS.map(({ name }) => `/traps/${name}`),
      ...ordinary(0, ORDINARY_IN_SLOW),
    ]),
    // The scrape includes the entries before the fault.
    '/sitemaps/broken.xml': `${validSitemap.replace('</urlset>', '')}\n<url><loc>${own}/pages/never.html</url></urlset>`,
    '/sitemaps/entities.xml': `${bomb}${validSitemap.replace('</urlset>', '')}<url><loc>${own}/&b;</loc></url></urlset>`,
    '/sitemaps/a-page.xml': { type: 'text/html', body: html('This is not a sitemap.') },
    '/sitemaps/feed.xml': `<rss version="2.0"><channel><item><link>${own}/pages/never.html</link></item></channel></rss>`,
    '/sitemaps/empty.xml': '',
    '/sitemaps/half.xml.gz': gzipHalf(sitemapOf(own, [...ordinary(80, ORDINARY), '/pages/never.html'])),
    '/sitemaps/to-metadata.xml': redirect('http://169.254.169.254/latest/'),
    '/sitemaps/circle.xml': redirect('/sitemaps/circle.xml'),
  };
}

const gzipHalf = (text: string): Page => ({
  type: 'application/gzip',
  body: gzipSync(text, { level: 0 }).subarray(0, -20),
});

export interface TrapSite extends Site {
  /** A second site, to which some traps link or redirect. */
  readonly foreign: Site;
  /** Addresses of the ordinary pages in the sitemaps. */
  readonly ordinary: readonly string[];
}

/**
 * Starts a site with every kind of fault: TRAPS among 100 ordinary pages, listed in sitemaps of which half are faulty.
 * /slow.xml lists the slow traps.
 */
export async function startTrapSite(): Promise<TrapSite> {
  const foreign = await startSite({
    '/open': html('A page of the other site.'),
    '/closed/page': html('closed'),
    '/robots.txt': 'User-agent: *\nDisallow: /closed/\n',
  });
  const site = await startSite({ '/robots.txt': 'User-agent: *\nDisallow: /traps/closed/\n' });
  const origins = { own: site.origin, foreign: foreign.origin };
  const paths = ordinary(0, ORDINARY);
  paths.forEach((path, number) => site.pages.set(path, samplePage(number, 2)));
  for (const { name, page, needsOrigins, also = {} } of [...TRAPS, ...SLOWNESS_TRAPS]) {
    const content = needsOrigins === true ? (page as (at: Origins) => Page)(origins) : (page as Page);
    for (const [path, answer] of Object.entries({ ...also, [`/traps/${name}`]: content })) site.pages.set(path, answer);
  }
  for (const [path, page] of Object.entries(sitemaps(origins))) site.pages.set(path, page);
  return {
    ...site,
    foreign,
    ordinary: paths.map((path) => site.url(path)),
    close: async () => void (await Promise.all([site.close(), foreign.close()])),
  };
}
