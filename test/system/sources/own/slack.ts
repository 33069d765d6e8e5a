import { beforeEach, describe, expect, test } from '@jest/globals';

import { parseSlackItemId } from '../../../../contract/sources/slackIds.js';
import { type Catalogue, Customer, expectSparse } from '../../../support/sourceFixtures/catalogue.js';

interface Conversations {
  readonly results: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

export function defineSlackTests(catalogue: Catalogue): void {
  describe('the operations of SLACK', () => {
    const customer = new Customer(catalogue, 'SLACK');
    beforeEach(() => customer.resetAndCreateUser());

    const page = (query = '') => customer.user.get<Conversations>(`/integrations/slack/conversations${query}`);
    const sync = (filters: Record<string, unknown>, body: Record<string, unknown> = {}) =>
      customer.user.post('/integrations/slack/sync', { filters, ...body });

    test('list its current conversations page by page', async () => {
      expect((await page()).status).toBe(404);
      const { id } = await customer.connect();
      const first = await page();
      expect(first).toMatchObject({ status: 200, body: { next_cursor: expect.any(String) } });
      expect(first.body.results[0]).toEqual({
        id: 'CATLAS',
        name: 'atlas',
        is_channel: true,
        is_im: false,
        is_mpim: false,
        is_private: false,
        is_shared: false,
        is_archived: false,
        user: null,
      });
      const more = await page(`?data_source_id=${id}&cursor=${encodeURIComponent(first.body.next_cursor ?? '')}`);
      expect(more.body).toMatchObject({ results: [{ id: 'CCREWS', is_archived: false }], next_cursor: null });
      const direct = await page('?types=private_channel,im&exclude_archived=false');
      expect(direct.body.results).toMatchObject([
        { id: 'CDOCKS', name: 'docks', is_channel: true, is_private: true },
        // A direct message conversation has no name in Slack: it is named after the other member.
        { id: 'DEELS', is_channel: false, is_im: true, is_private: true, user: 'U0BEN', name: 'Ben' },
      ]);
      for (const query of ['?types=public_channel,channels', '?exclude_archived=maybe', '?data_source_id=x'])
        expect((await page(query)).status).toBe(422);
      expect((await page(`?data_source_id=${2 ** 40}`)).status).toBe(404);
    });

    test('store messages since a given time, as one file per 15-minute window and one per thread', async () => {
      await customer.connect();
      const parsedId = parseSlackItemId(customer.content.keeper);
      const start = parsedId?.kind === 'window' ? parsedId.start : 0;
      const after = new Date((start + 60) * 1000).toISOString();
      const options = {
        tags: { from: 'slack' },
        request_id: 'slack since',
        chunk_size: 90,
        generate_sparse_vectors: true,
      };
      expect(await sync({ conversation_id: 'CATLAS', after }, options)).toMatchObject({
        status: 200,
        body: { success: true },
      });
      const [keeper] = await customer.settledFiles(1);
      expect(keeper).toMatchObject({
        external_file_id: customer.content.keeper,
        external_url: `https://harbour.slack.com/archives/CATLAS/p${start}000100`,
        sync_status: 'READY',
        request_id: 'slack since',
        chunk_size: 90,
        tags: { from: 'slack' },
        file_metadata: { type: 'TIME_RANGE', is_thread: false, channel_name: 'atlas' },
      });
      expect(JSON.parse(keeper?.name ?? '')).toEqual({ after: start, before: start + 900, conversation: 'CATLAS' });
      expect(await customer.textOf(customer.content.keeper)).toMatch(/^Ben, 2026-\d\d-\d\d \d\d:\d\d: Its keeper/);
      await expectSparse(customer.service, customer.user, keeper?.id ?? 0);
      // A second request that covers the same messages keeps the file.
      expect((await sync({ conversation_id: 'CATLAS', after: null })).status).toBe(200);
      const files = await customer.settledFiles(2);
      expect(files.map((file) => file.external_file_id).toSorted()).toEqual(
        [customer.content.keeper, customer.content.lighthouse].toSorted(),
      );
      const thread = files.find((file) => file.external_file_id === customer.content.lighthouse);
      expect(thread?.file_metadata).toMatchObject({ type: 'THREAD', is_thread: true, channel_name: 'atlas' });
      expect(await customer.textOf(customer.content.lighthouse)).toContain('Ben, ');
      expect(await customer.textOf(customer.content.lighthouse)).toContain('Who told you, @Ada?');
    });

    test('report a missing conversation as a file with SYNC_ERROR, and refuse an invalid conversation or time with 422', async () => {
      await customer.connect();
      expect((await sync({ conversation_id: 'C0NOWHERE', after: '2026/03/04' })).status).toBe(200);
      const [nowhere] = await customer.settledFiles(1);
      expect(nowhere).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/no such item/),
      });
      for (const wrong of ['', '#atlas', 'CATLAS/900', 'CATLAS?after=5', 'C1&types=im'])
        expect(await sync({ conversation_id: wrong })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'filters', 'conversation_id'] }] },
        });
      for (const wrong of ['yesterday', '2026/02/31'])
        expect(await sync({ conversation_id: 'CATLAS', after: wrong })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'filters', 'after'] }] },
        });
      expect((await customer.user.post('/integrations/slack/sync', {})).status).toBe(422);
    });
  });
}
