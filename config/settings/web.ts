/** Calls to the outside, and scraping. */
import Joi from 'joi';

import { text, count, proxyAddresses, type Setting } from './rules.js';

export const WEB_SETTINGS = {
  ALLOWED_PRIVATE_HOSTS: {
    schema: text().default(''),
    about:
      'Hosts that may be called although their addresses are not public, separated by commas: host, host:port or CIDR. Link-local and metadata addresses are never allowed.',
  },
  ALLOWED_PORTS: {
    schema: text().default(''),
    about:
      'Ports that outgoing requests may use, separated by commas; empty: any. The ports in ALLOWED_PRIVATE_HOSTS are allowed, too.',
  },
  PREMIUM_PROXY_URLS: {
    schema: text().default('').custom(proxyAddresses),
    about:
      'HTTP proxies, `http://user:password@host:port`, separated by commas. They are used in turn for pages with use_premium_proxies that refuse direct requests. The addresses of the proxies are not checked, so they may be private.',
  },
  USER_AGENT: {
    schema: Joi.string().default('Allotrope/0.1 (+self-hosted content ingestion)'),
    about: 'User-Agent header sent to sites.',
  },
  CONNECT_TIMEOUT_MS: { schema: count(10_000), about: 'Time limit for connecting to a site.' },
  HEADERS_TIMEOUT_MS: { schema: count(20_000), about: 'Time limit for receiving the response headers.' },
  BODY_TIMEOUT_MS: { schema: count(15_000), about: 'Maximum time without data while a response body is received.' },
  MAX_REDIRECTS: { schema: count(5, 0), about: 'Maximum number of redirects.' },
  CONNECTIONS_PER_HOST: {
    schema: count(8),
    about:
      'Maximum concurrent requests to one host for pages, sitemaps and feeds, over all workers. Also the maximum number of connections of one process to any host from which it reads content, such as the API of a connected account.',
  },
  MAX_PAGE_BYTES: { schema: count(20_000_000), about: 'Maximum size of a page in bytes, decompressed.' },
  PAGE_TIMEOUT_MS: {
    schema: count(30_000),
    about: 'Time limit for one attempt to load a page, including redirects and body.',
  },
  SITEMAP_MAX_BYTES: { schema: count(50_000_000), about: 'Maximum size of a sitemap file in bytes, decompressed.' },
  SITEMAP_MAX_FILES: { schema: count(500), about: 'Maximum number of sitemap files per scrape.' },
  SITEMAP_MAX_DEPTH: { schema: count(3), about: 'Maximum nesting of sitemap index files.' },
  MAX_PAGES_PER_SCRAPE: { schema: count(50_000), about: 'Maximum number of pages per scrape.' },
  SITE_SAMPLE_PAGES: {
    schema: count(12, 0),
    about:
      'Number of first pages of a scrape that are compared to find the blocks that the site repeats. If this setting is below 5, or fewer than 5 of these pages are of one host, such blocks stay in the text.',
  },
  OBEY_ROBOTS: { schema: Joi.boolean().default(true), about: 'Whether robots.txt is obeyed.' },
  CHROMIUM_PATH: {
    schema: Joi.string(),
    about:
      "Browser that renders pages. Default: Playwright's, /usr/bin/chromium-headless-shell or /usr/bin/chromium; otherwise one is installed.",
  },
  INSTALL_CHROMIUM: {
    schema: Joi.boolean().default(true),
    about:
      "Whether a worker that needs a browser and finds none installs one, with Playwright's installer or, as root, with apt-get. Until a browser is available, pages are fetched without rendering.",
  },
  BROWSER_MAX_PAGES: { schema: count(100), about: 'Number of pages after which the browser is restarted.' },
} as const satisfies Record<string, Setting>;
