/** Tests of rules for fields that the published schema cannot express: addresses, and vectors and weights of searches. */
import { expect, test } from '@jest/globals';
import type Joi from 'joi';

import { HttpError } from '../../api/http/errors.js';
import { addWebhook } from '../../api/webhooks/addWebhook.js';
import { address } from '../../api/schemas/fields.js';
import { hybridWeights, queryVector } from '../../api/schemas/search.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';

/** Rules of a deployment that refuses the port 22 and addresses of private networks. */
const RULES = {
  mayCall: ({ port, hostname }: URL) => port !== '22' && !/^(?:10\.|\[fd)/.test(hostname),
  redirectUriSchemes: [],
};
const accepts = (schema: Joi.Schema, value: unknown): boolean =>
  schema.validate(value, { context: RULES, convert: false }).error === undefined;

test('an address is refused if this service may not call it, with and without its scheme', () =>
  everyRow(
    [
      ['https://site.example/feed', true],
      ['site.example/feed', true],
      ['http://10.0.0.5/feed', false],
      ['10.0.0.5/feed', false],
      [' 10.0.0.5 ', false],
      ['HTTP://[fd00::1]/', false],
      ['http://167772165/', false],
      ['site.example:22', false],
      ['https://site.example:22/', false],
      // This rule checks only http(s) addresses: the operation refuses other schemes and invalid addresses.
      ['ftp://10.0.0.5/', true],
      ['not an address', true],
    ] as [string, boolean][],
    ([text]) => text,
    ([text, isAccepted]) => expect(accepts(address(), text)).toBe(isAccepted),
  ));

test('the weights of a hybrid search have the sum 1, within 0.001', () =>
  everyRow(
    [
      [0.5, 0.5, true],
      [1, 0, true],
      [0.3, 0.701, true],
      [0.3, 0.699, true],
      [0.3, 0.702, false],
      [0.3, 0.698, false],
      [0, 0, false],
      [1, 1, false],
    ] as [number, number, boolean][],
    String,
    ([semantic, keyword, isAccepted]) =>
      expect(accepts(hybridWeights(), { weight_a: semantic, weight_b: keyword })).toBe(isAccepted),
  ));

test('a query vector has a direction, and only numbers that fit into 32 bits', () =>
  everyRow(
    [
      [[0, 0.5], true],
      [[-1], true],
      [[], false],
      [[0, 0], false],
      // As 32-bit floats, 1e-60 is 0 and 1e39 is infinity.
      [[1e-60], false],
      [[1, 1e39], false],
    ] as [number[], boolean][],
    JSON.stringify,
    ([vector, isAccepted]) => expect(accepts(queryVector(), vector)).toBe(isAccepted),
  ));

/** Adds a webhook while the check of its address ends with a fault. @returns the error, or the added URL */
async function addWebhookWith(url: string, fault: unknown): Promise<unknown> {
  const added: unknown[] = [];
  const at = new Date(0);
  const webhook = {
    _id: 3,
    organizationId: 1,
    url,
    status: 'ACTIVE',
    statusReason: null,
    createdAt: at,
    updatedAt: at,
  };
  const deps = {
    addresses: { check: () => (fault === null ? Promise.resolve() : Promise.reject(fault as Error)) },
    unit: { transaction: (work: (session: null) => unknown) => work(null) },
    store: {
      webhooks: {
        add: (organizationId: number, address_: string, key: string) => (
          added.push([organizationId, address_, key.length]),
          Promise.resolve(webhook)
        ),
      },
    },
  };
  const call = { caller: { organizationId: 1 }, body: { url }, deps };
  return addWebhook.handle(call as never).then(
    () => added,
    (error: unknown) => error,
  );
}

test('a webhook may have a host that does not resolve yet, but no address that this service may not call', async () => {
  const url = 'https://hooks.example/a';
  expect(await addWebhookWith(url, null)).toEqual([[1, url, 64]]);
  expect(await addWebhookWith(url, new Fault('dns_failed', 'unknown host'))).toEqual([[1, url, 64]]);
  expect(await addWebhookWith(url, new Fault('address_refused', 'private'))).toMatchObject({ status: 422 });
  expect(await addWebhookWith('ftp://hooks.example', null)).toBeInstanceOf(HttpError);
  const defect = new TypeError('ours');
  expect(await addWebhookWith(url, defect)).toBe(defect);
});
