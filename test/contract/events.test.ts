import { describe, expect, test } from '@jest/globals';

import { EVENT_KINDS, eventBody, objectsOf, type ToldEvent } from '../../contract/events.js';

const nowhere = () => ({ workflow_id: null, workflow_url: null });
const event: ToldEvent = {
  kind: 'FILES_CREATED',
  customerId: 'satvik',
  objectId: ['46654'],
  info: null,
  at: new Date(1_721_392_406_000),
};

describe('the bytes of a delivery', () => {
  test('are those that receivers have seen from the hosted service', () => {
    expect(eventBody(event, nowhere)).toBe(
      '{"payload": "{\\"webhook_type\\": \\"FILES_CREATED\\", \\"obj\\": {\\"object_type\\": \\"FILE_LIST\\", \\"object_id\\": [\\"46654\\"], \\"additional_information\\": \\"null\\"}, \\"customer_id\\": \\"satvik\\", \\"timestamp\\": \\"1721392406\\"}"}',
    );
  });
  test('are ASCII, whatever a customer is called, and read back as what was meant', () => {
    const customerId = 'Zoë \u{1f600} "\\" \u007f \u2028';
    const body = eventBody({ ...event, customerId }, nowhere);
    expect(body).toMatch(/^[ -~]+$/);
    const { payload } = JSON.parse(body) as { payload: string };
    expect(payload).toMatch(/^[ -~]+$/);
    expect((JSON.parse(payload) as { customer_id: string }).customer_id).toBe(customerId);
  });
  test('tell facts as strings, and a missing request id as null', () => {
    const info = { is_resync: 'False', request_id: null };
    const { payload } = JSON.parse(eventBody({ ...event, kind: 'FILE_READY', objectId: '7', info }, nowhere)) as {
      payload: string;
    };
    expect(payload).toContain(
      '"obj": {"object_type": "FILE", "object_id": "7", "additional_information": {"is_resync": "False", "request_id": null}}',
    );
  });
});

test('there are 25 kinds of events', () => {
  expect(Object.keys(EVENT_KINDS)).toHaveLength(25);
});

test('a page, its file and a list with it are about the same object', () => {
  expect(objectsOf({ kind: 'WEBPAGE_READY', objectId: '7' })).toEqual(['FILE:7']);
  expect(objectsOf({ kind: 'FILE_READY', objectId: '7' })).toEqual(['FILE:7']);
  expect(objectsOf({ kind: 'FILES_CREATED', objectId: ['6', '7'] })).toEqual(['FILE:6', 'FILE:7']);
  expect(objectsOf({ kind: 'ORGANIZATION_USER_DELETED', objectId: '7' })).toEqual(['ORGANIZATION_USER:7']);
});
