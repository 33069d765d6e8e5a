/** Tests of the callback and the selection page of a connection, with fake stores and a fake source. */
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
interface Listing {
  readonly filters: { readonly externalIds?: readonly string[]; readonly parentExternalId?: string };
  readonly page: { readonly limit: number; readonly offset: number };
}
/** Returns the fake dependencies of a connected account. @param listRoots lists the account at its source */
function depsOf(
  listRoots: () => Promise<object> = () => Promise.resolve({ items: [], next: null }),
  answers: object = {},
  listed: (listing: Listing) => readonly object[] = () => [],
) {
  const recorded = recorder({
    'attempts.findByState': ATTEMPT,
    'attempts.find': ATTEMPT,
    'attempts.findByPage': ATTEMPT,
    'attempts.createPage': 'secret',
    'attempts.recordReturn': false,
    'attempts.changeState': false,
    'dataSources.find': SOURCE,
    'items.list': [],
    ...answers,
  });
  const calls: unknown[] = [];
  const deps = {
    store: {
      ...(recorded.stores as object),
      items: {
        async *list(_source: object, listing: Listing) {
          yield await Promise.resolve(listed(listing).map((item) => ({ item })));
        },
      },
      accountCredentials: () => null,
    },
    connectors: { consent: () => null, account: () => ({ listRoots }) },
    settings: { connectPageLifeMs: 1_000 },
    unit: { transaction: (work: (session: null) => unknown) => work(null), start: (id: number) => calls.push(id) },
    dispatcher: { signalConsentReturned: (id: number) => Promise.resolve(calls.push(`signal ${id}`)) },
    log: { warn: (fields: object) => calls.push(fields) },
  };
  return { deps, of: recorded.of, calls };
}

describe('a callback that is opened again', () => {
  const callback = callbacks.find(({ path }) => path === `/integrations/${CALLBACK_PATHS.BOX}`)!;
  const open = async (signal: AbortSignal) => {
    const { deps, of } = depsOf();
    const call = { query: { state: 's', code: 'c' }, signal, deps };
    const { html } = (await callback.handle(call as never)) as PageAnswer;
    return { html, pages: of('attempts.createPage').length };
  };

  test('creates no selection page if the browser has disconnected', async () => {
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

  test('of a connection that offers no choice of items syncs the whole account, and ignores sent ids', async () => {
    const actions = { offersChooser: false, listItems: true, syncFiles: true, dataSourceTags: {} };
    const attempt = { ...ATTEMPT, actions, options: { ingest: {}, tags: {}, requestId: 'r' } };
    const { deps, of } = depsOf(undefined, {
      'attempts.findByPage': attempt,
      'attempts.find': attempt,
      'runs.nextId': 7,
    });
    const call = { params: { name: 'secret' }, query: {}, body: { action: 'sync', ids: ['a'] }, deps };
    await decideOnConnection.handle(call as never);
    expect(of('dataSources.queueListing')).toHaveLength(1);
    expect(of('dataSources.recordSelection')).toEqual([]);
    expect(JSON.stringify(of('runs.accept'))).toContain('"isWhole":true');
  });

  const open = async (query: object, deps: object) =>
    (await connectionPage.handle({ params: { name: 'secret' }, query, deps } as never)) as PageAnswer;
  const item = (id: string, fields: object = {}) => ({
    ...{ externalId: id, name: `name of ${id}`, parentExternalId: null, isSelectable: true, isExpandable: false },
    ...fields,
  });

  test('shows 100 items of a folder per page, with links to the pages that exist and to the folder above', async () => {
    const children = Array.from({ length: 201 }, (_, index) => item(`id-${index}`, { isExpandable: index === 0 }));
    const folder = item('folder', { name: 'Reports', parentExternalId: 'parent' });
    const listed = ({ filters, page }: Listing) => {
      if (filters.externalIds) return filters.externalIds[0] === 'folder' ? [folder] : [];
      return filters.parentExternalId === 'folder' ? children.slice(page.offset, page.offset + page.limit) : [];
    };
    const { deps } = depsOf(undefined, {}, listed);
    const show = async (page: number) => {
      const { html } = await open({ in: 'folder', page }, deps);
      const links = [...html.matchAll(/formaction="[^"]*?\?([^"]*)"\s+aria-label="([^"]*)"/g)];
      return {
        html,
        ids: [...html.matchAll(/type="checkbox" name="ids" value="([^"]+)"/g)].map(([, id]) => id),
        links: links.map(([, query, label]) => `${label}: ${query!.replaceAll('&amp;', '&')}`),
      };
    };
    const [first, second, third] = [await show(0), await show(1), await show(2)];
    expect(first.html).toContain('In <strong>Reports</strong>');
    expect([first.ids, second.ids, third.ids].map((ids) => [ids.length, ids[0]])).toEqual([
      ...[
        [100, 'id-0'],
        [100, 'id-100'],
        [1, 'id-200'],
      ],
    ]);
    const above = ['Back to the top: page=0', 'One folder up: in=parent&page=0'];
    expect(first.links).toEqual(['Open name of id-0: in=id-0&page=0', ...above, 'Next page: in=folder&page=1']);
    expect(second.links).toEqual([...above, 'Previous page: in=folder&page=0', 'Next page: in=folder&page=2']);
    expect(third.links).toEqual([...above, 'Previous page: in=folder&page=1']);
  });

  test('shows root items of the source while none are stored, with checkboxes only for selectable ones', async () => {
    const roots = () => Promise.resolve({ items: [item('a'), item('b', { isSelectable: false })], next: null });
    const shown = async (syncStatus: string) =>
      (await open({}, depsOf(roots, { 'dataSources.find': { ...SOURCE, syncStatus } }).deps)).html;
    expect((await shown('READY')).match(/name="ids" value="[^"]*"/g)).toEqual(['name="ids" value="a"']);
    // Unlisted root items can be opened only while a listing of the account is queued or in progress.
    expect([(await shown('READY')).includes('Open'), (await shown('SYNCING')).includes('Open')]).toEqual([false, true]);
    const revoked = depsOf(roots, { 'dataSources.find': { ...SOURCE, revokedAccess: true } });
    expect((await open({}, revoked.deps)).status).toBe(409);
    expect((await open({}, depsOf(roots, { 'attempts.findByPage': null }).deps)).status).toBe(400);
  });

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

describe('a callback', () => {
  const callback = callbacks.find(({ path }) => path === `/integrations/${CALLBACK_PATHS.BOX}`)!;
  const WAITING = { 'attempts.recordReturn': true, 'attempts.changeState': true };
  /** Opens the callback. @param attempt fields of the connection attempt when it is read for the page */
  const open = async (query: object, attempt: object = {}, answers: object = WAITING, source: object = SOURCE) => {
    const { deps, of, calls } = depsOf(undefined, {
      ...{ 'attempts.find': { ...ATTEMPT, ...attempt }, 'dataSources.find': source, ...answers },
      'attempts.findByState': { ...ATTEMPT, knownSourceId: 5 },
    });
    const call = { query: { state: 's', ...query }, signal: new AbortController().signal, deps };
    const { status, html } = (await callback.handle(call as never)) as PageAnswer;
    return { status, html, of, calls };
  };

  test.each(['access_denied', 'user_denied', 'user_cancelled_login', 'consent_declined'])(
    'with the error %s records that the user refused, and signals the workflow',
    async (error) => {
      const { status, html, of, calls } = await open({ error });
      expect([status, html]).toEqual([200, expect.stringContaining('You did not give your consent')]);
      expect(of('dataSources.recordCancellation').map(([, id]) => id)).toEqual([5]);
      expect(calls).toEqual(['signal 3']);
    },
  );

  test('with another error fails the connection, and logs only a code', async () => {
    const failed = { state: 'failed', message: 'Box rejected the request.' };
    const { status, html, of, calls } = await open({ error: 'invalid_scope', code: 'c' }, failed);
    expect([status, html]).toEqual([400, expect.stringContaining('Box rejected the request.')]);
    expect(of('attempts.changeState').map(([id, from, to]) => [id, from, to])).toEqual([[3, ['waiting'], 'failed']]);
    expect(of('dataSources.recordCancellation')).toEqual([]);
    expect(calls).toEqual([
      expect.objectContaining({ code: 'invalid_scope', organizationId: 1, userId: 2 }),
      'signal 3',
    ]);
    expect((await open({ error: '<script>' }, failed)).calls).toMatchObject([{ code: null }, 'signal 3']);
    // A second visit changes nothing.
    const again = await open({ error: 'invalid_scope' }, failed, { 'attempts.changeState': false });
    expect(again.calls).toEqual([]);
  });

  test('accepts a code of up to 8,192 characters', async () => {
    const codes = async (length: number) => {
      const { of } = await open({ code: 'c'.repeat(length) }, { state: 'failed' });
      return of('attempts.recordReturn').length;
    };
    expect([await codes(8_192), await codes(8_193), await codes(0)]).toEqual([1, 0, 0]);
  });

  test('that is first opened after the time limit marks the connection as expired', async () => {
    const late = { 'attempts.recordReturn': false, 'attempts.changeState': true };
    const { status, of, calls } = await open({ code: 'c' }, { state: 'expired' }, late);
    expect([status, calls]).toEqual([410, ['signal 3']]);
    expect(of('attempts.changeState').map(([, , to]) => to)).toEqual(['expired']);
  });

  test.each([
    [{ externalId: 'BOX|ada@site.example', metadata: {} }, 'ada@site.example'],
    [{ externalId: 'BOX|17', metadata: {} }, '17'],
    [{ externalId: 'BOX|17', metadata: { user_name: 'Ada', team_name: 'Crew' } }, 'Ada (Crew)'],
    [
      { externalId: 'BOX|ada@site.example', metadata: { user_name: 'Ada', email: 'ada@site.example' } },
      'Ada (ada@site.example)',
    ],
    [{ externalId: 'BOX|17', metadata: { user_name: '', site_name: 'Docs' } }, 'Docs'],
  ])('of an account with %j shows the name %s', async (fields, name) => {
    const { html } = await open({ code: 'c' }, {}, WAITING, { ...SOURCE, ...fields });
    expect(html).toContain(`Account: <strong>${name}</strong>`);
  });
});
