/** Connected accounts, consent and the pages of operators. */
import { readOAuthClients } from '../../connectors/oauth/clients.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { text, count, readBy, type Setting } from './rules.js';

/** Maximum of both lifetimes in seconds: MongoDB deletes a connection attempt a week after its last change. */
const MAX_CONNECTION_LIFE_S = 604_800;

export const ACCOUNTS_SETTINGS = {
  SOURCE_URLS: {
    schema: text().custom(readBy(readSourceUrls)).default(''),
    about:
      'URLs that replace those of connected sources, `GITBOOK.api=https://gitbook.example/v1`, separated by commas: of a proxy, or of an emulator for tests.',
  },
  OAUTH_CLIENTS: {
    schema: text().custom(readBy(readOAuthClients)).default(''),
    about:
      "The deployment's own OAuth clients, `GOOGLE_DRIVE=id:secret,SLACK=id:secret`, separated by commas (a comma in a secret is `%2C`). Each is registered at its provider with the redirect address PUBLIC_URL/integrations/…, as docs/operations/accounts.md lists them. An organization's white label takes precedence.",
  },
  SOURCE_PATIENCE_MS: {
    schema: count(30_000),
    about:
      'Maximum time that a request waits when a connected source requests a later retry. If the source requests a longer wait, the file becomes RATE_LIMITED and is retried after that wait.',
  },
  CONSENT_LIFE_S: {
    schema: count(1_800).max(MAX_CONNECTION_LIFE_S),
    about: 'Seconds within which a user must consent after /integrations/oauth_url returned the URL; at most a week.',
  },
  CONNECT_PAGE_LIFE_S: {
    schema: count(3_600).max(MAX_CONNECTION_LIFE_S),
    about: 'Seconds for which the page that selects items of a connected account can be opened; at most a week.',
  },
  DIAGNOSIS_TIMEOUT_MS: {
    schema: count(15_000),
    about: 'Time limit for requests to the source during the diagnosis of a data source; the caller waits.',
  },
  OPS_SESSION_S: {
    schema: count(3_600),
    about: 'Seconds that a browser stays signed in at /ops. Loading the page in the second half renews the session.',
  },
  OPS_CLIENTS: {
    schema: count(50),
    about:
      'Maximum number of browsers per API process that receive live updates at /ops; other browsers show the state at page load.',
  },
  OPS_TICK_MS: {
    schema: count(2_000, 200),
    about:
      'Milliseconds between two refreshes of /ops. All viewers of an organization share one refresh; without viewers there is none.',
  },
} as const satisfies Record<string, Setting>;
