import { type Site, sitemapOf, startSite } from './site.js';

/** Paths of the pages, in the order of the sitemap. */
export const FIELD_PAGES = ['/a/0.html', '/a/1.html', '/b/2.html', '/b/3.html'] as const;

/** Texts on each page that a scrape can exclude: by tag, by class and by CSS selector. */
export const MARKED = {
  tag: 'Words inside of a blockquote.',
  class: 'Words inside of an advert.',
  selector: 'Words inside of a note.',
} as const;

const sentences = (page: number): string =>
  Array.from({ length: 12 }, (_, line) => `Line ${line} of page ${page} tells how the harbour was built.`).join(' ');

const fieldPage = (number: number): string => `<!doctype html><html lang="en"><head><title>Harbour ${number}</title>
<link rel="stylesheet" href="/media/site.css"></head><body><main><h1>Harbour ${number}</h1><p>${sentences(number)}</p>
<blockquote>${MARKED.tag}</blockquote><p class="wide advert">${MARKED.class}</p><p data-kind="note">${MARKED.selector}</p>
<img src="/media/picture.png" alt=""></main></body></html>`;

/** Starts a small site on which every field of a scrape request has an effect. /other.xml lists only the last page. */
export async function startFieldSite(): Promise<Site> {
  const site = await startSite({
    '/media/site.css': { type: 'text/css', body: 'body { font-size: 2em }' },
    '/media/picture.png': { type: 'image/png', body: Buffer.from('89504e470d0a1a0a', 'hex') },
  });
  FIELD_PAGES.forEach((path, number) => site.pages.set(path, fieldPage(number)));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, FIELD_PAGES));
  site.pages.set('/other.xml', sitemapOf(site.origin, ['/b/3.html']));
  return site;
}
