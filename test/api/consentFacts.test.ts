import { describe, expect, test } from '@jest/globals';

import { factsOf } from '../../api/integrations/consent/facts.js';
import { FACT_FIELDS } from '../../contract/oauth.js';
import type { OAuthSource } from '../../contract/whiteLabel.js';

/** Words of a caller from which no address of ours may be built. */
const HOSTILE = [
  ...['evil.com/#', '127.0.0.1:8080', 'a@b', 'a/b', 'a?b', 'a#b', 'a\\b', 'a b.com/', '..', '.', '-a', 'a:b', '[::1]'],
  ...['evil.com%2f', 'a\u0000b', 'a\nb', 'xn--/', 'http://evil.com', '//evil.com', '@evil.com', 'evil。com/'],
];
const GOOD: Readonly<Record<string, string>> = {
  microsoft_tenant: 'harbour.onmicrosoft.com',
  sharepoint_site_name: 'Harbour site',
  zendesk_subdomain: 'harbour',
  confluence_subdomain: 'harbour-1',
  salesforce_domain: 'harbour.my.salesforce.com',
  gong_account_email: 'ada@harbour.example',
};

/** What of these is no address but what the field is for: an e-mail; a site in a site, each a part of a path of its own. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  gong_account_email: ['a@b'],
  sharepoint_site_name: ['a/b'],
};

const fields = Object.entries(FACT_FIELDS).flatMap(([service, rows]) =>
  rows.map((row) => [service as OAuthSource, row.field, row] as const),
);

describe.each(fields)('%s: %s', (service, field, { fact, isNeeded, fallback }) => {
  test('is taken as a fact of the connection', () => {
    expect(factsOf(service, { [field]: GOOD[field] })).toMatchObject({ [fact]: GOOD[field] });
  });

  test.each(HOSTILE.filter((one) => !MEANT[field]?.includes(one)))('is never %j', (value) => {
    expect(() => factsOf(service, { [field]: value })).toThrow(
      expect.objectContaining({ status: 422, detail: [expect.objectContaining({ loc: ['body', field] })] }),
    );
  });

  test('is asked for by its name where there is no address without it, and may be absent elsewhere', () => {
    if (isNeeded) expect(() => factsOf(service, {})).toThrow(expect.objectContaining({ status: 400 }));
    else expect(factsOf(service, {})[fact]).toBe(fallback);
  });
});

test.each(['evil.com', 'salesforce.com.evil.com', 'evilsalesforce.com'])('salesforce_domain is never %s', (domain) => {
  expect(() => factsOf('SALESFORCE', { salesforce_domain: domain })).toThrow();
});

test('a field of another service is not looked at', () => {
  expect(factsOf('ZENDESK', { zendesk_subdomain: 'harbour', salesforce_domain: 'evil.com/#' })).toEqual({
    subdomain: 'harbour',
  });
});
