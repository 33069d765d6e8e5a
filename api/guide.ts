import { fileURLToPath } from 'node:url';
import express, { type Express } from 'express';

/** The built site: next to the compiled module, or in dist/ where the module runs from its source. */
const SITE = fileURLToPath(
  new URL(import.meta.url.endsWith('/dist/api/guide.js') ? '../guide' : '../dist/guide', import.meta.url),
);

/** The pages load scripts, styles, pictures and the index of the search from their own folder, and nothing else. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // Browsers check the ETag each time, so a page never runs with scripts of another version.
  'cache-control': 'no-cache',
};

/**
 * Serves the guide at /guide: static files that `npm run build` makes from docs/ (scripts/guide/build.ts). All links in
 * them are relative, so a reverse proxy may add any prefix to the path.
 * @param site folder of the built site
 */
export function mountGuide(app: Express, site = SITE): void {
  app.get('/guide', (request, response, next) => {
    if (request.path !== '/guide') return next();
    // The location is relative, because the process cannot know the prefix of a proxy.
    response.status(302).set('location', 'guide/').end();
  });
  app.use(
    '/guide',
    express.static(site, {
      redirect: false,
      cacheControl: false,
      index: 'index.html',
      setHeaders: (response) => {
        for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
      },
    }),
  );
}
