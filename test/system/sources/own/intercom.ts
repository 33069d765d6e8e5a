import { describe, expect, test } from '@jest/globals';

import type { IntercomFixture } from '../../../support/sourceFixtures/intercom.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';
import { type HelpdeskContent, defineHelpdeskTests } from './helpdesk.js';

/** Fills the account with an item of each kind, and no others. */
export function fillIntercom({ fixtures }: Catalogue) {
  const { collections, articles, conversations, tickets } = (fixtures.INTERCOM as IntercomFixture).emulator;
  fixtures.INTERCOM.reset();
  for (const items of [collections, articles, conversations, tickets]) items.clear();
  collections.set(1, { name: 'Sea' });
  articles.set(100, { collection: 1, title: 'Lighthouse', body: '<p>A light.</p>' });
  const plan = { name: 'plan.txt', content: 'High tide at noon.' };
  conversations.set(5, {
    title: 'Tides',
    parts: [
      { text: 'When is high tide?', files: [plan] },
      { text: 'At noon.' },
      { text: 'He asks daily.', isNote: true },
    ],
    total: 7,
  });
  tickets.set(7, {
    title: 'Pier',
    parts: [{ text: 'Broken &amp; wet.', files: [{ name: 'pier.txt', content: 'A broken pier.' }] }],
  });
  return {
    types: { ARTICLE: 'article:100', TICKET: 'ticket:7', CONVERSATION: 'conversation:5' },
    attached: { TICKET: 'ticket:7/700-0', CONVERSATION: 'conversation:5/s-0' },
  } satisfies HelpdeskContent;
}

export function defineIntercomTests(catalogue: Catalogue): void {
  const emulator = () => (catalogue.fixtures.INTERCOM as IntercomFixture).emulator;
  defineHelpdeskTests(catalogue, 'INTERCOM', () => fillIntercom(catalogue));

  describe('the items of INTERCOM', () => {
    const customer = new Customer(catalogue, 'INTERCOM');

    test('conversations and tickets have their messages as text, and tickets their attributes as tags', async () => {
      await customer.resetAndCreateUser();
      fillIntercom(catalogue);
      const config = { sync_attachments: true };
      const source = await customer.connect({ sync_files_on_connection: true, file_sync_config: config });
      expect(source.data_source_metadata).toMatchObject({ workspace_name: 'Harbour', region: 'US' });
      const files = await customer.settledFiles(5);
      const fileWithId = (id: string) => files.find((file) => file.external_file_id === id);
      expect(fileWithId('ticket:7')).toMatchObject({
        name: 'Pier',
        tags: {
          ticket_type: 'Bug',
          ticket_status: 'In progress',
          ticket_category: 'Customer',
          ticket_submitter: 'ben@sea.example',
          ticket_assigned_team: 'Piers',
          ticket_assigned_admin: 'ada@harbour.example',
        },
      });
      expect(await customer.textOf('ticket:7')).toMatch(/About Pier\.\s+Ada, .*: Broken & wet\./);
      // Intercom returns a limited number of the parts of a conversation. parts_left_out is their total number minus
      // that of the returned ones; the first message is not a part.
      expect(fileWithId('conversation:5')?.file_metadata).toMatchObject({ type: 'CONVERSATION', parts_left_out: 5 });
      expect(await customer.textOf('conversation:5')).toMatch(
        /Ben, [\d :-]+: When is high tide\?\s+Ada, .*: At noon\.\s+Ada, .* \(internal note\): He asks daily\./,
      );
      expect(fileWithId('ticket:7/700-0')?.file_metadata).toMatchObject({ parent_external_file_id: 'ticket:7' });
      expect(await customer.textOf('conversation:5/s-0')).toContain('High tide at noon.');
    });

    test('later listings search for changed conversations and tickets, and detect deleted ones by a lower count', async () => {
      await customer.resetAndCreateUser();
      fillIntercom(catalogue);
      const { conversations, tickets, articles } = emulator();
      const file = { name: 'a.txt', content: 'a' };
      for (const id of [8, 9]) tickets.set(id, { title: `Ticket ${id}`, parts: [{ text: 'See.', files: [file] }] });
      await customer.connect({ sync_source_items: true });
      const ids = async () => (await customer.items()).items.map((item) => item.external_id).toSorted();
      const before = await ids();
      expect(before).toEqual(expect.arrayContaining(['ticket:8/800-0', 'conversation:5/s-0']));
      emulator().reset();
      const now = Math.floor(Date.now() / 1000);
      tickets.set(8, { title: 'Changed', parts: [{ text: 'Nothing here.' }], updated: now });
      conversations.set(6, { title: 'New', parts: [{ text: 'See.', files: [file] }], updated: now });
      articles.delete(100);
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      const fresh = ['conversation:6', 'conversation:6/s-0'];
      const deletedIds = ['article:100', 'ticket:8/800-0'];
      const after = [...before.filter((id) => !deletedIds.includes(id)), ...fresh].toSorted();
      expect(await ids()).toEqual(after);
      const requestedInFull = () =>
        emulator().requests.flatMap((path) => /^\/((?:conversations|tickets)\/\d+)/.exec(path)?.[1] ?? []);
      expect(requestedInFull().toSorted()).toEqual(['conversations/6', 'tickets/8']);
      emulator().reset();
      conversations.delete(5);
      await customer.listItems();
      expect(await ids()).toEqual(after.filter((id) => !id.startsWith('conversation:5')));
      expect(requestedInFull()).toContain('tickets/9');
    });

    test('a refusal by an attachment host fails only the attachment, not the connection', async () => {
      await customer.resetAndCreateUser();
      const { attached } = fillIntercom(catalogue);
      await customer.connect();
      emulator().fileStatus = 401;
      await customer.syncFiles([attached.TICKET, 'article:100']);
      const files = await customer.settledFiles(2);
      expect(files.find((file) => file.external_file_id === 'article:100')?.sync_status).toBe('READY');
      expect(files.find((file) => file.external_file_id === attached.TICKET)).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/did not send the attachment/),
      });
      expect((await customer.source()).revoked_access).toBe(false);
      emulator().fileStatus = null;
    });

    test('an article in several languages is one file, without drafts', async () => {
      await customer.resetAndCreateUser();
      fillIntercom(catalogue);
      emulator().articles.set(101, {
        collection: null,
        title: 'Knots',
        body: '<p>A bowline.</p>',
        translated: {
          de: { title: 'Knoten', body: '<p>Ein Palstek.</p>' },
          fr: { title: 'Nœuds', body: '<p>Pas encore.</p>', draft: true },
        },
      });
      await customer.connect();
      await customer.syncFiles(['articles']);
      await customer.settledFiles(1);
      const text = await customer.textOf('article:101');
      expect(text.indexOf('Palstek')).toBeGreaterThan(text.indexOf('bowline'));
      expect(text).not.toContain('Pas encore');
    });
  });
}
