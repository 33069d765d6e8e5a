import { readOAuthClients } from '../../connectors/oauth/clients.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { EgressSettings } from '../../egress/types.js';
import type { Settings } from '../readSettings.js';
import type { Config } from '../types.js';

/** Returns the settings of outgoing requests. */
export function egressSection(settings: Settings): EgressSettings {
  return {
    allowedPrivateHosts: settings.list('ALLOWED_PRIVATE_HOSTS'),
    allowedPorts: settings.list('ALLOWED_PORTS').map(Number),
    userAgent: settings.string('USER_AGENT'),
    connectTimeoutMs: settings.number('CONNECT_TIMEOUT_MS'),
    headersTimeoutMs: settings.number('HEADERS_TIMEOUT_MS'),
    bodyTimeoutMs: settings.number('BODY_TIMEOUT_MS'),
    maxRedirects: settings.number('MAX_REDIRECTS'),
    connectionsPerHost: settings.number('CONNECTIONS_PER_HOST'),
    premiumProxies: settings.list('PREMIUM_PROXY_URLS'),
  };
}

/** Returns the settings of connected sources and of the web. */
export function sourceSection(settings: Settings): Pick<Config, 'connectors' | 'web'> {
  return {
    connectors: {
      urls: readSourceUrls(settings.string('SOURCE_URLS')),
      clients: readOAuthClients(settings.string('OAUTH_CLIENTS')),
      // An item is read into memory as a whole. Above MAX_DOCUMENT_BYTES it could not be parsed, so it is not fetched.
      maxItemBytes: Math.min(settings.number('MAX_UPLOAD_BYTES'), settings.number('MAX_DOCUMENT_BYTES')),
      timeLimitMs: settings.number('SOURCE_PATIENCE_MS'),
    },
    web: {
      maxPageBytes: settings.number('MAX_PAGE_BYTES'),
      pageTimeoutMs: settings.number('PAGE_TIMEOUT_MS'),
      sitemapMaxBytes: settings.number('SITEMAP_MAX_BYTES'),
      sitemapMaxFiles: settings.number('SITEMAP_MAX_FILES'),
      sitemapMaxDepth: settings.number('SITEMAP_MAX_DEPTH'),
      maxPagesPerScrape: settings.number('MAX_PAGES_PER_SCRAPE'),
      siteSamplePages: settings.number('SITE_SAMPLE_PAGES'),
      obeyRobots: settings.flag('OBEY_ROBOTS'),
      chromiumPath: settings.optional('CHROMIUM_PATH'),
      installChromium: settings.flag('INSTALL_CHROMIUM'),
      browserMaxPages: settings.number('BROWSER_MAX_PAGES'),
      maxDownloadBytes: settings.number('MAX_UPLOAD_BYTES'),
      downloadTimeoutMs: settings.number('DOWNLOAD_TIMEOUT_MS'),
      userAgent: settings.string('USER_AGENT'),
      requestsPerHost: settings.number('CONNECTIONS_PER_HOST'),
    },
  };
}
