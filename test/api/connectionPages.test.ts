/** Tests of the pages of a connection that depend on the order of requests, or on failures of the source. */
import { describe, expect, test } from '@jest/globals';

import { callbacks } from '../../api/integrations/consent/callback.js';
import { connectionPage, decideOnConnection } from '../../api/integrations/consent/connectionPage.js';
import type { PageAnswer } from '../../api/http/operation.js';
import { CALLBACK_PATHS } from '../../contract/accounts/oauth.js';
import { Fault } from '../../contract/failures.js';
import { recorder } from '../support/recorder.js';

const TENANT = { organizationId: 1, userId: 2 };
const ATTEMPT = {
  ...{ ...TENANT, _id: 3, service: 'BOX', state: 'connected', runIds: [], dataSourceId: 5, knownSourceId: null },
  actions: { offersChooser: true, opensChooser: false, dataSourceTags: {} },
};
const SOURCE = { ...TENANT, _id: 5, type: 'BOX', syncStatus: 'READY', externalId: null, metadata: {} };
/** Returns the fake dependencies of a connected account. @param listRoots lists the account at its source */
function depsOf(listRoots: () => Promise<object> = () => Promise.resolve({ items: [], next: null })) {
  const recorded = recorder({
    'attempts.findByState': ATTEMPT,
    'attempts.find': ATTEMPT,
    'attempts.findByPage': ATTEMPT,
    'attempts.createPage': 'secret',
    'attempts.recordReturn': false,
    'attempts.changeState': false,
    'dataSources.find': SOURCE,
    'items.list': [],
  });
  const deps = {
    store: {
      ...(recorded.stores as object),
      items: { async *list() {} },
      accountCredentials: () => null,
    },
    connectors: { consent: () => null, account: () => ({ listRoots }) },
    settings: { connectPageLifeMs: 1_000 },
  };
  return { deps, of: recorded.of };
}

describe('a callback that is opened again', () => {
  const callback = callbacks.find(({ path }) => path === `/integrations/${CALLBACK_PATHS.BOX}`)!;
  const open = async (signal: AbortSignal) => {
    const { deps, of } = depsOf();
    const call = { query: { state: 's', code: 'c' }, signal, deps };
    const { html } = (await callback.handle(call as never)) as PageAnswer;
    return { html, pages: of('attempts.createPage').length };
  };

  test('leaves the selection page to the newer request if its caller has disconnected', async () => {
    expect((await open(AbortSignal.abort())).pages).toBe(0);
    const { html, pages } = await open(new AbortController().signal);
    expect([pages, html]).toEqual([1, expect.stringContaining('/connections/secret')]);
  });
});

describe('the selection page', () => {
  const decide = async (count: number, action: string) => {
    const ids = Array.from({ length: count }, (_, index) => `id-${index}`);
    const { value, error } = decideOnConnection.body!.validate({ action, ids });
    if (error) throw error;
    const call = { params: { name: 'secret' }, query: {}, body: value as object, deps: depsOf().deps };
    return (await decideOnConnection.handle(call as never)) as PageAnswer;
  };

  test.each(['choose', 'look'])(
    'keeps a selection of too many items and shows the maximum after %s',
    async (action) => {
      const { status, html } = await decide(1_001, action);
      expect([status, html]).toEqual([200, expect.stringContaining('1001 items are selected, but at most 1,000')]);
      expect(html.match(/value="id-\d+"/g)).toHaveLength(1_001);
      expect((await decide(1_000, 'look')).html).not.toContain('class="bad"');
      expect((await decide(0, action)).html.includes('Select at least one item')).toBe(action === 'choose');
    },
  );

  test('shows a page, with the status of the failure, if the source does not list its items', async () => {
    const failing = () => Promise.reject(new Fault('rate_limited', 'Box limits requests.', { retryAfterMs: 5_000 }));
    const call = { params: { name: 'secret' }, query: {}, deps: depsOf(failing).deps };
    const { status, html } = (await connectionPage.handle(call as never)) as PageAnswer;
    expect([status, html]).toEqual([503, expect.stringMatching(/<!doctype html>[^]*Box limits requests/)]);
    await expect(
      connectionPage.handle({ ...call, deps: depsOf(() => Promise.reject(new Error('defect'))).deps } as never),
    ).rejects.toThrow('defect');
  });
});
