/** Connected accounts, consent and the pages of operators. */
import { readOAuthClients } from '../../connectors/oauth/clients.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { text, count, readBy, type Setting } from './rules.js';

export const ACCOUNTS_SETTINGS = {
  SOURCE_URLS: {
    schema: text().custom(readBy(readSourceUrls)).default(''),
    about:
      'Other addresses of connected sources, `GITBOOK.api=https://gitbook.example/v1`, by comma: a proxy of yours, or a stand-in for tests.',
  },
  OAUTH_CLIENTS: {
    schema: text().custom(readBy(readOAuthClients)).default(''),
    about:
      "The deployment's own OAuth clients, `GOOGLE_DRIVE=id:secret,SLACK=id:secret`, by comma (a comma in a secret is `%2C`). Each is registered at its provider with the redirect address PUBLIC_URL/integrations/…, as docs/operations.md lists them. An organization's white label goes before it.",
  },
  SOURCE_PATIENCE_MS: {
    schema: count(30_000),
    about:
      'How long a request to a connected source waits where that asks to come later; a longer wait puts its file into RATE_LIMITED until then.',
  },
  CONSENT_LIFE_S: {
    schema: count(1_800),
    about: 'Seconds a person may take from the address that /integrations/oauth_url answers to their consent.',
  },
  CONNECT_PAGE_LIFE_S: {
    schema: count(3_600),
    about: 'Seconds that the page at which items of a connected account are chosen can be opened.',
  },
  DIAGNOSIS_TIMEOUT_MS: {
    schema: count(15_000),
    about: 'Time that the diagnosis of a data source has to ask its source; its caller waits.',
  },
  OPS_SESSION_S: {
    schema: count(3_600),
    about: 'Seconds that a browser stays signed in at /ops; opening the page goes on with it.',
  },
  OPS_CLIENTS: {
    schema: count(50),
    about: 'Browsers at most that one API process keeps up to date at /ops; others see it as of when they opened it.',
  },
  OPS_TICK_MS: {
    schema: count(2_000, 200),
    about:
      'Time between two looks at what /ops shows, one for all who look at an organization; none while nobody does.',
  },
} as const satisfies Record<string, Setting>;
