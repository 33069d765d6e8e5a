import { describe, expect, test } from '@jest/globals';

import { newFreshdeskAccount } from '../../../emulators/freshdesk.js';
import type { FreshdeskFixture } from '../../../support/sourceFixtures/freshdesk.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';
import { type HelpdeskContent, defineHelpdeskTests } from './helpdesk.js';

/** Fills one domain with an item of each kind, and no other domain. */
export function fillFreshdesk({ fixtures }: Catalogue, domain = 'harbour'): HelpdeskContent {
  fixtures.FRESHDESK.reset();
  const account = newFreshdeskAccount();
  (fixtures.FRESHDESK as FreshdeskFixture).emulator.accounts.set(domain, account);
  account.categories.set(1, 'Sea');
  account.folders.set(10, { category: 1, name: 'Sights' });
  account.articles.set(100, { folder: 10, title: 'Lighthouse', body: '<p>A light.</p>' });
  account.tickets.set(7, {
    subject: 'Pier',
    text: 'It is broken.',
    replies: [
      { text: 'A carpenter comes.', files: [{ id: 70, name: 'pier.txt', content: 'A broken pier.' }] },
      { text: 'Thank you.', user: 9 },
      { text: 'He is a nuisance.', isPrivate: true },
    ],
  });
  return {
    types: { ARTICLE: `${domain}/article:100`, TICKET: `${domain}/ticket:7` },
    attached: { TICKET: `${domain}/ticket:7/70` },
  };
}

export function defineFreshdeskTests(catalogue: Catalogue): void {
  const emulator = () => (catalogue.fixtures.FRESHDESK as FreshdeskFixture).emulator;
  defineHelpdeskTests(catalogue, 'FRESHDESK', () => fillFreshdesk(catalogue));

  describe('the operation of FRESHDESK', () => {
    const customer = new Customer(catalogue, 'FRESHDESK');

    test('accepts domain with or without .freshdesk.com, refuses others with 422, names missing fields', async () => {
      await customer.resetAndCreateUser();
      fillFreshdesk(catalogue, 'quay');
      const { user, fixture } = customer;
      for (const domain of [
        'evil.com/#',
        '127.0.0.1:8080',
        'a@b',
        'evil.com',
        'harbour.freshdesk.com.evil.com',
        'a/b',
        '',
      ])
        expect(await fixture.connect(user, { domain })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'domain'] }] },
        });
      expect(await user.post('/integrations/freshdesk', {})).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'domain'] }, { loc: ['body', 'api_key'] }] },
      });
      emulator().addresses.length = 0;
      const credentials = { source: 'FRESHDESK', domain: 'evil.com/#', api_key: 'fd-key-lighthouse' };
      const options = { sync_source_items: false, sync_files_on_connection: false };
      const connectWith = (authentication: object) =>
        user.post('/integrations/connect', { authentication, sync_options: options });
      expect(await connectWith(credentials)).toMatchObject({ status: 422 });
      expect(emulator().addresses).toEqual([]);
      expect(await fixture.connect(user, { domain: 'Quay.freshdesk.com', ...options })).toMatchObject({ status: 200 });
      expect(await customer.source()).toMatchObject({
        data_source_external_id: 'FRESHDESK|quay',
        data_source_metadata: { domain: 'quay', user_name: 'Ada' },
      });
      expect(await connectWith({ ...credentials, domain: 'quay' })).toMatchObject({
        status: 200,
        body: { sync_url: null },
      });
      expect(new Set(emulator().addresses.map((one) => one.split('/')[1]))).toEqual(new Set(['quay']));
    });

    test("lists all tickets even if many changed in one second; a ticket's text is its conversation", async () => {
      await customer.resetAndCreateUser();
      fillFreshdesk(catalogue);
      const { tickets } = emulator().accounts.get('harbour')!;
      for (let id = 20; id < 27; id += 1) tickets.set(id, { subject: `T${id}`, text: `Ticket ${id}.` });
      tickets.set(30, { subject: 'Later', text: 'Later.', updated: '2026-04-01T10:00:00Z' });
      tickets.set(31, { subject: 'Spam', text: 'Buy.', spam: true });
      await customer.connect({ sync_files_on_connection: true, file_sync_config: { sync_attachments: true } });
      const files = await customer.settledFiles(11);
      const fileWithId = (id: string) => files.find((file) => file.external_file_id === id);
      expect(fileWithId('harbour/ticket:30')?.name).toBe('Later');
      expect(fileWithId('harbour/ticket:31')).toBeUndefined();
      expect(fileWithId('harbour/ticket:7')?.file_metadata).toMatchObject({
        ...{ type: 'TICKET', ticket_status: 'open', ticket_priority: 'high', ticket_type: 'Question' },
      });
      expect(await customer.textOf('harbour/ticket:7')).toMatch(
        /Ben, [\d :-]+: It is broken\.\s+Agent, .*: A carpenter comes\.\s+Ben, .*: Thank you\.\s+Agent, .* \(internal note\): He is/,
      );
      expect(fileWithId('harbour/ticket:7/70')).toMatchObject({
        file_statistics: { file_format: 'TXT' },
        file_metadata: { type: 'TICKET_ATTACHMENT', parent_external_file_id: 'harbour/ticket:7' },
      });
      expect(await customer.textOf('harbour/ticket:7/70')).toContain('A broken pier.');
      // The next listing deletes the file of a ticket that was deleted in Freshdesk, and the files of its attachments.
      tickets.get(7)!.deleted = true;
      await customer.listItems();
      expect(await customer.files()).toHaveLength(9);
    });
  });
}
