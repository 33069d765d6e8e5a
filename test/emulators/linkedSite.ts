import { type Site, startSite } from './site.js';

/** Returns a page with a few unique words and links to other pages. */
export function linkedPage(name: string, links: readonly string[], head = ''): string {
  const list = links.map((link) => `<li><a href="${link}">to ${link}</a></li>`).join('');
  return `<!doctype html><html lang="en"><head><title>Page ${name}</title>${head}</head><body><main><h1>Page ${name}</h1>
<p>The page ${name} tells how the harbour of ${name} was built, by whom, and what it cost at the time.</p></main><nav><ul>${list}</ul></nav></body></html>`;
}

/** Starts a site of linked pages. @param links link targets by path */
export async function startLinkedSite(links: Readonly<Record<string, readonly string[]>>): Promise<Site> {
  const site = await startSite();
  for (const [path, targets] of Object.entries(links)) site.pages.set(path, linkedPage(path, targets));
  return site;
}

/** Returns an RSS feed with full texts. @param entries texts by name */
export function feedOf(entries: Readonly<Record<string, string>>): string {
  const items = Object.entries(entries).map(
    ([id, text]) => `<item><guid>${id}</guid><title>News ${id}</title><link>/news/${id}</link>
<pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate><content:encoded><![CDATA[<p>${text}</p>]]></content:encoded></item>`,
  );
  return `<rss version="2.0" xmlns:content="c"><channel><title>Harbour news</title>${items.join('')}</channel></rss>`;
}
