import { describe, expect, test } from '@jest/globals';

import { newZendeskAccount } from '../../../emulators/zendesk.js';
import { waitFor } from '../../../support/waitFor.js';
import type { ZendeskFixture } from '../../../support/sourceFixtures/zendesk.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';
import { type HelpdeskContent, defineHelpdeskTests } from './helpdesk.js';

/** Replaces the account of one subdomain by one with an item of each kind. Other subdomains do not change. */
export function fillZendesk({ fixtures }: Catalogue, subdomain = 'harbour'): HelpdeskContent {
  const account = newZendeskAccount();
  (fixtures.ZENDESK as ZendeskFixture).emulator.accounts.set(subdomain, account);
  account.categories.set(1, 'Sea');
  account.sections.set(10, { category: 1, name: 'Sights' });
  account.articles.set(100, { section: 10, title: 'Lighthouse', body: `<p>The light of ${subdomain}.</p>` });
  account.tickets.set(7, {
    subject: 'Pier',
    type: 'incident',
    comments: [
      { text: 'It is broken.', attachments: [{ id: 70, name: 'pier.txt', content: 'A broken pier.' }] },
      { text: 'A carpenter comes.', author: 501 },
    ],
  });
  return {
    types: { ARTICLE: `${subdomain}/article:100`, TICKET: `${subdomain}/ticket:7` },
    attached: { TICKET: `${subdomain}/ticket:7/70` },
  };
}

/** Tests that zendesk_subdomain selects the account. */
export function defineZendeskAddressTests(catalogue: Catalogue): void {
  const fixture = () => catalogue.fixtures.ZENDESK as ZendeskFixture;

  describe('the zendesk_subdomain of ZENDESK', () => {
    const customer = new Customer(catalogue, 'ZENDESK');

    test('is required (400), must be a single host label (422), and identifies a separate account', async () => {
      await customer.resetAndCreateUser();
      const { user } = customer;
      const requestUrl = (body: Record<string, unknown>) =>
        user.post('/integrations/oauth_url', { service: 'ZENDESK', connecting_new_account: true, ...body });
      for (const none of [{}, { zendesk_subdomain: null }, { zendesk_subdomain: '' }])
        expect(await requestUrl(none)).toMatchObject({
          status: 400,
          body: { detail: expect.stringContaining('zendesk_subdomain') },
        });
      for (const wrong of ['evil.com/#', '127.0.0.1:8080', 'a@b'])
        expect(await requestUrl({ zendesk_subdomain: wrong })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'zendesk_subdomain'] }] },
        });
      const { hosts } = fixture().emulator;
      for (const subdomain of ['harbour', 'quay']) {
        fillZendesk(catalogue, subdomain);
        hosts.length = 0;
        await fixture().connect(user, { zendesk_subdomain: subdomain, sync_source_items: false });
        await waitFor(
          () => customer.textOf(`${subdomain}/article:100`),
          (text) => text.includes(`The light of ${subdomain}.`),
        );
        // Consent, tokens and API requests all use this subdomain.
        expect(new Set(hosts.map((one) => one.split('/')[1]))).toEqual(new Set([subdomain]));
        for (const part of ['/oauth/authorizations/new', '/oauth/tokens', '/api/v2/users/me.json'])
          expect(hosts.some((one) => one.endsWith(part))).toBe(true);
      }
      const { results } = (
        await user.post<{ results: { data_source_external_id: string }[] }>('/user_data_sources', {})
      ).body;
      expect(results.map((one) => one.data_source_external_id).toSorted()).toEqual([
        'ZENDESK|ada@harbour.example|harbour',
        'ZENDESK|ada@harbour.example|quay',
      ]);
    });
  });
}

export function defineZendeskTests(catalogue: Catalogue): void {
  defineHelpdeskTests(catalogue, 'ZENDESK', () => fillZendesk(catalogue));

  describe('the items of ZENDESK', () => {
    const customer = new Customer(catalogue, 'ZENDESK');

    test('a ticket has its comments as text, its attributes as tags, and its attachments as files', async () => {
      await customer.resetAndCreateUser();
      fillZendesk(catalogue);
      await customer.connect({ sync_files_on_connection: true, file_sync_config: { sync_attachments: true } });
      const files = await customer.settledFiles(3);
      const fileWithId = (id: string) => files.find((file) => file.external_file_id === id);
      expect(fileWithId('harbour/ticket:7')).toMatchObject({
        name: 'Pier',
        external_url: expect.stringMatching(/\/agent\/tickets\/7$/),
        file_statistics: { file_format: 'ZENDESK' },
        tags: { ticket_type: 'incident', ticket_status: 'open', ticket_submitter: 'Ada@harbour.example' },
        file_metadata: { type: 'TICKET', channel: 'email' },
      });
      expect(await customer.textOf('harbour/ticket:7')).toMatch(
        /Ben, [\d :-]+: It is broken\.\s+Ada, .*: A carpenter comes\./,
      );
      expect(fileWithId('harbour/ticket:7/70')).toMatchObject({
        name: 'pier.txt',
        file_statistics: { file_format: 'TXT' },
        file_metadata: { type: 'TICKET_ATTACHMENT', parent_external_file_id: 'harbour/ticket:7' },
      });
      expect(await customer.textOf('harbour/ticket:7/70')).toContain('A broken pier.');
    });

    test('later listings request only changed tickets, but the whole help centre', async () => {
      await customer.resetAndCreateUser();
      fillZendesk(catalogue);
      const { emulator } = catalogue.fixtures.ZENDESK as ZendeskFixture;
      const { tickets, articles } = emulator.accounts.get('harbour')!;
      const attached = { text: 'See.', attachments: [{ id: 80, name: 'a.txt', content: 'a' }] };
      for (const id of [8, 9, 10]) tickets.set(id, { subject: `Ticket ${id}`, comments: [attached] });
      await customer.connect({ sync_source_items: true });
      const ids = async () => (await customer.items()).items.map((item) => item.external_id).toSorted();
      const before = await ids();
      expect(before).toEqual(expect.arrayContaining(['harbour/ticket:8/80', 'harbour/ticket:9/80']));
      emulator.reset();
      // The incremental export, which omits the last minute, and the list of the latest tickets report these changes.
      const minutesAgo = new Date(Date.now() - 200_000).toISOString();
      Object.assign(tickets.get(8)!, { updated: minutesAgo, comments: [{ text: 'Nothing here.' }] });
      Object.assign(tickets.get(9)!, { updated: minutesAgo, status: 'deleted' });
      tickets.set(11, { subject: 'New', comments: [attached], updated: new Date().toISOString() });
      articles.delete(100);
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      const deletedIds = ['harbour/article:100', 'harbour/ticket:8/80', 'harbour/ticket:9', 'harbour/ticket:9/80'];
      const fresh = ['harbour/ticket:11', 'harbour/ticket:11/80'];
      expect(await ids()).toEqual([...before.filter((id) => !deletedIds.includes(id)), ...fresh].toSorted());
      const ticketRequests = emulator.requests.filter((path) => path.includes('/tickets'));
      expect(ticketRequests.some((path) => path.includes('start_time=1&'))).toBe(false);
      const commentRequests = ticketRequests.flatMap((path) => /tickets\/(\d+)\/comments/.exec(path)?.[1] ?? []);
      expect(commentRequests.toSorted()).toEqual(['11', '8']);
      // A further listing neither adds nor deletes items.
      emulator.reset();
      const after = await ids();
      await customer.listItems();
      expect(await ids()).toEqual(after);
    });
  });
}
