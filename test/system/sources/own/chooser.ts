import { beforeAll, describe, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../../contract/sources/connectedSources.js';
import { consentTo, openPage } from '../../../support/consent.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';
import { thoroughRows } from '../../../support/thorough.js';

/** Tests the file chooser page of a source that supports the options of a file picker. */
export function defineChooserTests(catalogue: Catalogue, type: ConnectedSourceType): void {
  describe(`the file chooser of ${type}`, () => {
    const customer = new Customer(catalogue, type);
    const { name } = CONNECTED_SOURCES[type];
    beforeAll(() => customer.resetAndCreateUser());

    const connected = async (body: Record<string, unknown>) => {
      const request = { service: type, connecting_new_account: true, sync_source_items: false, ...body };
      const { body: answer } = await customer.user.post<{ oauth_url: string }>('/integrations/oauth_url', request);
      return consentTo(answer.oauth_url);
    };

    test.each([
      ['offered by default', {}, 'offered'],
      ...thoroughRows([
        ['opened at once on request', { automatically_open_file_picker: true }, 'open'],
        ['absent without a file picker', { enable_file_picker: false }, 'none'],
        [
          'absent without a file picker, even if its opening is requested',
          { enable_file_picker: false, automatically_open_file_picker: true },
          'none',
        ],
      ] as const),
    ] as const)('is %s', async (_when, body, wanted) => {
      const { html, url, status } = await connected(body);
      expect(status).toBe(200);
      const link = /href="(\/connections\/[^"?]+)"/.exec(html)?.[1];
      expect(url.includes('/connections/')).toBe(wanted === 'open');
      expect(html.includes(`${name} is connected`)).toBe(wanted !== 'open');
      expect(link !== undefined).toBe(wanted === 'offered');
    });

    test('syncs the selected items and their descendants with the options of the call', async () => {
      const { content, service, user } = customer;
      const body = { automatically_open_file_picker: true, tags: { by: 'page' }, request_id: `chosen of ${type}` };
      const { url, html } = await connected(body);
      // Nothing is listed yet: the page requests the top level from the source.
      for (const id of content.containers.slice(0, 2)) expect(html).toContain(`value="${id}"`);
      await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'choose', ids: content.branch }) });
      const syncedFiles = await customer.settledFiles(2);
      expect(syncedFiles.map((file) => file.external_file_id).toSorted()).toEqual(
        [content.keeper, content.lighthouse].toSorted(),
      );
      for (const file of syncedFiles)
        expect(file).toMatchObject({ sync_status: 'READY', tags: { by: 'page' }, request_id: `chosen of ${type}` });
      const { id, last_sync_action: action } = await customer.source();
      expect(action).toBe('UPDATE');
      // A connected account needs no consent again.
      const again = await user.post<{ oauth_url: string }>('/integrations/oauth_url', {
        service: type,
        data_source_id: id,
      });
      expect(again.body.oauth_url.startsWith(`${service.url}/connections/`)).toBe(true);
      expect((await openPage(again.body.oauth_url)).html).toContain(`Choose from ${name}`);
    });
  });
}
