import { expect, test } from '@jest/globals';

import { connectionFieldsOf } from '../../api/integrations/consent/connectionFields.js';
import { CONNECTION_FIELDS } from '../../contract/accounts/oauth.js';
import type { OAuthSource } from '../../contract/accounts/whiteLabel.js';
import { everyRow } from '../support/everyRow.js';

/** Malicious values of a caller, which must not change the addresses that the service requests. */
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

/** Values of HOSTILE that are valid in a field: in an e-mail address, and in the path of a SharePoint subsite. */
const VALID: Readonly<Record<string, readonly string[]>> = {
  gong_account_email: ['a@b'],
  sharepoint_site_name: ['a/b'],
};

const fields = Object.entries(CONNECTION_FIELDS).flatMap(([service, rows]) =>
  rows.map((row) => ({ ...row, service: service as OAuthSource })),
);
type Row = (typeof fields)[number];
const nameOf = ({ service, field }: Row): string => `${service}: ${field}`;

test('returns the value of each connection field under the name of its parameter', () =>
  everyRow(fields, nameOf, ({ service, field, parameter }) => {
    expect(connectionFieldsOf(service, { [field]: GOOD[field] })).toMatchObject({ [parameter]: GOOD[field] });
  }));

test('refuses values that would change the address, in every field', () => {
  const salesforceValues: readonly (readonly [Row, string])[] = fields
    .filter(({ field }) => field === 'salesforce_domain')
    .flatMap((row) =>
      ['evil.com', 'salesforce.com.evil.com', 'evilsalesforce.com'].map((value) => [row, value] as const),
    );
  const hostile = fields.flatMap((row) =>
    HOSTILE.filter((value) => !VALID[row.field]?.includes(value)).map((value) => [row, value] as const),
  );
  return everyRow(
    [...hostile, ...salesforceValues],
    ([row, value]) => `${nameOf(row)} = ${JSON.stringify(value)}`,
    ([{ service, field }, value]) => {
      expect(() => connectionFieldsOf(service, { [field]: value })).toThrow(
        expect.objectContaining({ status: 422, detail: [expect.objectContaining({ loc: ['body', field] })] }),
      );
    },
  );
});

test('requires a field only if the address cannot be built without it', () =>
  everyRow(fields, nameOf, ({ service, parameter, isRequired, fallback }) => {
    if (isRequired) expect(() => connectionFieldsOf(service, {})).toThrow(expect.objectContaining({ status: 400 }));
    else expect(connectionFieldsOf(service, {})[parameter]).toBe(fallback);
  }));

test('ignores fields of other services', () => {
  expect(connectionFieldsOf('ZENDESK', { zendesk_subdomain: 'harbour', salesforce_domain: 'evil.com/#' })).toEqual({
    subdomain: 'harbour',
  });
});
