import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { createSignedUrls } from '../../api/http/identity/signedUrls.js';
import { base64Twins } from '../support/base64Twins.js';

const ref = { organizationId: 1, fileId: 2, generation: 3, kind: 'raw' } as const;
const signed = createSignedUrls([{ id: 'k', key: randomBytes(32) }]);

function open(change: (query: URLSearchParams) => void) {
  const url = new URL(signed.sign(ref, 60), 'http://host');
  change(url.searchParams);
  const [, , organization = '', file = '', content = ''] = url.pathname.split('/');
  return signed.read({ organization, file, content }, Object.fromEntries(url.searchParams));
}

test('a signed URL opens its content', () => {
  expect(open(() => undefined)).toEqual(ref);
});

test.each<readonly [string, (expires: string) => string]>([
  ['a leading zero', (expires) => `0${expires}`],
  ['a plus', (expires) => `+${expires}`],
  ['a fraction', (expires) => `${expires}.0`],
  ['a space', (expires) => ` ${expires}`],
  ['an exponent', (expires) => `${expires}e0`],
  ['hexadecimal digits', (expires) => `0x${Number(expires).toString(16)}`],
])('refuses another spelling of expires: %s', (_what, spell) => {
  expect(open((query) => query.set('expires', spell(query.get('expires') ?? '')))).toBeNull();
});

test('refuses other texts that decode to the signature', () => {
  const signature = new URLSearchParams(signed.sign(ref, 60).split('?')[1]).get('signature') ?? '';
  expect(base64Twins(signature).length).toBeGreaterThanOrEqual(3);
  for (let index = 0; index < base64Twins(signature).length; index += 1)
    expect(open((query) => query.set('signature', base64Twins(query.get('signature') ?? '')[index] ?? ''))).toBeNull();
});
