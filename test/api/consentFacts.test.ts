import { expect, test } from '@jest/globals';

import { factsOf } from '../../api/integrations/consent/facts.js';
import { FACT_FIELDS } from '../../contract/oauth.js';
import type { OAuthSource } from '../../contract/whiteLabel.js';
import { everyRow } from '../support/everyRow.js';

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
  rows.map((row) => ({ ...row, service: service as OAuthSource })),
);
type Row = (typeof fields)[number];
const nameOf = ({ service, field }: Row): string => `${service}: ${field}`;

test('every field is taken as a fact of the connection', () =>
  everyRow(fields, nameOf, ({ service, field, fact }) => {
    expect(factsOf(service, { [field]: GOOD[field] })).toMatchObject({ [fact]: GOOD[field] });
  }));

test('no field takes words from which another address would be built', () => {
  const more: readonly (readonly [Row, string])[] = fields
    .filter(({ field }) => field === 'salesforce_domain')
    .flatMap((row) =>
      ['evil.com', 'salesforce.com.evil.com', 'evilsalesforce.com'].map((value) => [row, value] as const),
    );
  const hostile = fields.flatMap((row) =>
    HOSTILE.filter((one) => !MEANT[row.field]?.includes(one)).map((value) => [row, value] as const),
  );
  return everyRow(
    [...hostile, ...more],
    ([row, value]) => `${nameOf(row)} = ${JSON.stringify(value)}`,
    ([{ service, field }, value]) => {
      expect(() => factsOf(service, { [field]: value })).toThrow(
        expect.objectContaining({ status: 422, detail: [expect.objectContaining({ loc: ['body', field] })] }),
      );
    },
  );
});

test('every field is asked for by its name where there is no address without it, and may be absent elsewhere', () =>
  everyRow(fields, nameOf, ({ service, fact, isNeeded, fallback }) => {
    if (isNeeded) expect(() => factsOf(service, {})).toThrow(expect.objectContaining({ status: 400 }));
    else expect(factsOf(service, {})[fact]).toBe(fallback);
  }));

test('a field of another service is not looked at', () => {
  expect(factsOf('ZENDESK', { zendesk_subdomain: 'harbour', salesforce_domain: 'evil.com/#' })).toEqual({
    subdomain: 'harbour',
  });
});
