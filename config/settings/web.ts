/** Calls to the outside, and scraping. */
import Joi from 'joi';

import { text, count, proxyAddresses, type Setting } from './rules.js';

export const WEB_SETTINGS = {
  ALLOWED_PRIVATE_HOSTS: {
    schema: text().default(''),
    about:
      'Exceptions of the address guard by comma: host, host:port or CIDR. Link-local and metadata addresses are never allowed.',
  },
  ALLOWED_PORTS: { schema: text().default(''), about: 'Ports that outgoing requests may use, by comma; empty: any.' },
  PREMIUM_PROXY_URLS: {
    schema: text().default('').custom(proxyAddresses),
    about:
      'HTTP proxies by comma, `http://user:password@host:port`, used in turn for pages that ask for use_premium_proxies and are refused to the service itself. Their own addresses are not guarded.',
  },
  USER_AGENT: {
    schema: Joi.string().default('Allotrope/0.1 (+self-hosted content ingestion)'),
    about: 'How the service names itself to sites.',
  },
  CONNECT_TIMEOUT_MS: { schema: count(10_000), about: 'Time to connect to a site.' },
  HEADERS_TIMEOUT_MS: { schema: count(20_000), about: 'Time from a request to its headers.' },
  BODY_TIMEOUT_MS: { schema: count(15_000), about: 'Silence allowed inside a body.' },
  MAX_REDIRECTS: { schema: count(5, 0), about: 'Redirects followed at most.' },
  CONNECTIONS_PER_HOST: { schema: count(8), about: 'Requests to one host at once, over all workers.' },
  MAX_PAGE_BYTES: { schema: count(20_000_000), about: 'Bytes of a page at most, decompressed.' },
  PAGE_TIMEOUT_MS: { schema: count(30_000), about: 'Time for one page, redirects and body included.' },
  SITEMAP_MAX_BYTES: { schema: count(50_000_000), about: 'Bytes of one sitemap file at most, decompressed.' },
  SITEMAP_MAX_FILES: { schema: count(500), about: 'Sitemap files read for one scrape at most.' },
  SITEMAP_MAX_DEPTH: { schema: count(3), about: 'How deep sitemap index files may name others.' },
  MAX_PAGES_PER_SCRAPE: { schema: count(50_000), about: "The server's own cap of pages of one scrape." },
  OBEY_ROBOTS: { schema: Joi.boolean().default(true), about: 'Whether robots.txt is obeyed.' },
  CHROMIUM_PATH: {
    schema: Joi.string(),
    about:
      "The browser that renders pages. Unset: Playwright's own, /usr/bin/chromium-headless-shell or /usr/bin/chromium, else one is installed.",
  },
  INSTALL_CHROMIUM: {
    schema: Joi.boolean().default(true),
    about:
      "Whether a worker that needs a browser and finds none installs one, once: by Playwright's installer, then, as root, by apt-get. Meanwhile, and without one, pages are fetched by plain HTTP.",
  },
  BROWSER_MAX_PAGES: { schema: count(100), about: 'Pages after which the browser is started anew.' },
} as const satisfies Record<string, Setting>;
