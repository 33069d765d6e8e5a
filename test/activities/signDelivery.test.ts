import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { signDelivery } from '../../activities/webhooks/signDelivery.js';
import { eventBody } from '../../contract/events.js';

const signingKey = 'aa76aee859f223451fd9bfb37ce893a0';
const seconds = 1_721_392_406;
const event = {
  kind: 'FILES_CREATED',
  customerId: 'satvik',
  objectId: ['46654'],
  info: null,
  at: new Date(seconds * 1000),
} as const;
const body = eventBody(event, () => ({ workflow_id: null, workflow_url: null }));
const headers = signDelivery({ signingKey, body, eventId: 'evt_1_5', seconds });

test('both signatures match the sample of the public webhook library of Carbon', () => {
  expect(headers['carbon-signature']).toBe(
    't=1721392406,v1=aa2273ab64bb9162e7e7983a9cd7ab9f90d686691b1fd25c577991ad42c53fc1',
  );
  expect(headers['carbon-signature-compact']).toBe(
    't=1721392406,v2=42a86d4083fee090b5a0800a91e82fb389f0bed4da757d07ee8ba97485194e59',
  );
});

test('a Standard Webhooks receiver verifies the signature', () => {
  const key = Buffer.from(signingKey, 'hex');
  const expected = createHmac('sha256', key).update(`evt_1_5.1721392406.${body}`).digest('base64');
  expect(headers).toMatchObject({
    'webhook-id': 'evt_1_5',
    'webhook-timestamp': '1721392406',
    'webhook-signature': `v1,${expected}`,
  });
});
