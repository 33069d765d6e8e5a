import { samplePage, type Site, sitemapOf, startSite } from './site.js';

export interface HeldSite extends Site {
  /** Answers all waiting requests. Later requests are answered without waiting. */
  release(): void;
}

/** Starts a site of sample pages under /pages/. Only the first two answer before `release`. */
export async function startHeldSite(count: number): Promise<HeldSite> {
  const site = await startSite();
  const waiting: (() => void)[] = [];
  let isReleased = false;
  const paths = Array.from({ length: count }, (_, number) => `/pages/${number}.html`);
  paths.forEach((path, number) =>
    site.pages.set(path, (_request, response) => {
      const answer = () => void response.writeHead(200, { 'content-type': 'text/html' }).end(samplePage(number, 1));
      if (isReleased || number < 2) answer();
      else waiting.push(answer);
    }),
  );
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  return {
    ...site,
    release() {
      isReleased = true;
      waiting.splice(0).forEach((answer) => answer());
    },
  };
}
