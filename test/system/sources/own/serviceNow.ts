import { beforeEach, describe, expect, test } from '@jest/globals';

import { OAUTH_SOURCES } from '../../../../contract/accounts/whiteLabel.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../emulators/oauthProvider.js';
import { HIBERNATING, sysIdOf } from '../../../emulators/serviceNow.js';
import type { Answer } from '../../../support/client.js';
import { answerConsent, openPage } from '../../../support/consent.js';
import { rowsContaining } from '../../../support/keptTexts.js';
import { waitFor } from '../../../support/waitFor.js';
import { serviceNowCredentials, type ServiceNowFixture } from '../../../support/sourceFixtures/serviceNow.js';
import { ALIAS, type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';
import { ALL_TYPE_OPTIONS, configOf, type TypeOptions } from './helpdesk.js';

const HOSTILE = ['evil.com/#', '127.0.0.1:8080', 'a@b', 'a.b', 'a/b', '..', '-a', 'a b', 'http://evil.com', '[::1]'];

/** Tables of the emulator. */
const [incident, drill] = ['incident', 'u_drill'];
/** Attaches a text file to a record. Returns the id of its item. */
function attach(
  attachments: ServiceNowFixture['emulator']['attachments'],
  table: string,
  record: string,
  name: string,
  content: string,
): string {
  const id = sysIdOf(name);
  attachments.set(id, { table, record: sysIdOf(record), name: `${name}.txt`, type: 'text/plain', content });
  return `${table}/${sysIdOf(record)}/${id}`;
}

/** Tests the OAuth client that each ServiceNow connection has. */
export function defineServiceNowClientTests(catalogue: Catalogue): void {
  describe('the servicenow_credentials of SERVICENOW', () => {
    const customer = new Customer(catalogue, 'SERVICENOW');
    const emulated = () => (customer.fixture as ServiceNowFixture).emulator;
    const credentials = () => serviceNowCredentials(customer.user.baseUrl);
    const urlFor = (
      clientFields: unknown,
      more: object = {},
    ): Promise<Answer<{ oauth_url: string; detail: unknown }>> =>
      customer.user.post('/integrations/oauth_url', {
        ...{ service: 'SERVICENOW', connecting_new_account: true, servicenow_credentials: clientFields },
        ...more,
      });
    beforeEach(() => customer.resetAndCreateUser());

    test('have a redirect_uri of the service or an alias; authorization and token requests use it unchanged', async () => {
      const { baseUrl } = customer.user;
      for (const redirectUri of [
        `${ALIAS}/integrations/servicenow`,
        `${ALIAS.toUpperCase()}/integrations/servicenow`,
      ]) {
        emulated().oauth.requests.length = 0;
        const { status, body } = await urlFor(
          { ...credentials(), redirect_uri: redirectUri },
          { sync_source_items: false },
        );
        expect(status).toBe(200);
        expect(new URL(body.oauth_url).searchParams.get('redirect_uri')).toBe(redirectUri);
        const callbackUrl = new URL(await answerConsent(body.oauth_url));
        expect(callbackUrl.origin).toBe(ALIAS);
        // In production the alias resolves to this service. Here the test sends the request to the service itself.
        expect((await openPage(`${baseUrl}${callbackUrl.pathname}${callbackUrl.search}`)).status).toBe(200);
        const token = emulated().oauth.requests.find(({ kind }) => kind === 'token');
        expect(token).toMatchObject({ outcome: 'granted', parameters: { redirect_uri: redirectUri } });
      }
      for (const wrong of [
        ...['https://evil.example/integrations/servicenow', `${baseUrl}/integrations/slack`, `${baseUrl}/`],
        ...[`${baseUrl}/integrations/servicenow?a=b`, `${baseUrl}/integrations/servicenow#a`, 'servicenow'],
        ...[`http://ada@${baseUrl.slice(7)}/integrations/servicenow`, `${baseUrl}/integrations/service\nnow`],
        `${baseUrl}.evil.example/integrations/servicenow`,
      ])
        expect(await urlFor({ ...credentials(), redirect_uri: wrong })).toMatchObject({
          status: 422,
          body: {
            detail: [
              {
                loc: ['body', 'servicenow_credentials', 'redirect_uri'],
                msg: expect.stringContaining('/integrations/servicenow'),
              },
            ],
          },
        });
    });

    test('accept only a single host label as instance, and call no other host', async () => {
      for (const instance of HOSTILE)
        expect(await urlFor({ ...credentials(), instance_subdomain: instance })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'servicenow_credentials', 'instance_subdomain'] }] },
        });
      await customer.connect({
        servicenow_credentials: { ...credentials(), instance_subdomain: 'lagoon' },
        sync_source_items: true,
      });
      const requestedHosts = emulated().requests.map((path) => path.split('/')[1]);
      expect(new Set(requestedHosts)).toEqual(new Set(['lagoon']));
      expect((await customer.source()).data_source_external_id).toBe('SERVICENOW|ada.lee|lagoon');
    });

    test('are all required: the error names the missing or invalid field', async () => {
      for (const name of Object.keys(credentials()))
        for (const value of [undefined, null, '', 5]) {
          const { status, body } = await urlFor({ ...credentials(), [name]: value });
          expect({ status, body }).toMatchObject({
            status: 422,
            body: { detail: [{ loc: ['body', 'servicenow_credentials', name] }] },
          });
        }
      for (const wrong of ['x', [], {}]) expect((await urlFor(wrong)).status).toBe(422);
      for (const missing of [undefined, null])
        expect(await urlFor(missing)).toMatchObject({
          status: 400,
          body: { detail: expect.stringContaining('servicenow_credentials') },
        });
    });

    test('are ignored by other services, except that values of a wrong type are rejected', async () => {
      const clientFields = {
        ...{ instance_subdomain: 'evil.com/#', redirect_uri: 'https://evil.example/' },
        ...{ client_id: 'x', client_secret: 'y' },
      };
      for (const wrong of ['x', { ...clientFields, client_id: 7 }])
        expect((await urlFor(wrong, { service: 'GOOGLE_DRIVE' })).status).toBe(422);
      for (const service of OAUTH_SOURCES.filter((one) => one !== 'SERVICENOW')) {
        const needed = { zendesk_subdomain: 'harbour', gong_account_email: 'ada@harbour.example' };
        const { status, body } = await urlFor(clientFields, { service, ...needed });
        // A source without a connector is refused with this message.
        if (status === 200) expect(body.oauth_url).not.toMatch(/evil/);
        else expect(body.detail).toMatch(/cannot be connected in this version/);
      }
    });

    test('are encrypted, stored with their connection only, and used by its refreshes', async () => {
      const otherClient = { ...credentials(), client_id: 'other-client', client_secret: 'other-client-secret' };
      const {
        id,
        organization_id: organizationId,
        organization_user_id: userId,
      } = await customer.connect({
        servicenow_credentials: otherClient,
      });
      const storedSource = await customer.service.store.dataSources.find({ organizationId, userId }, id);
      expect(customer.service.store.dataSources.credentialsOf(storedSource!)).toContain('other-client-secret');
      expect(await rowsContaining(customer.service, ['other-client-secret'])).toEqual([]);
      emulated().oauth.expireAll();
      emulated().oauth.requests.length = 0;
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      expect(emulated().oauth.requests).toMatchObject([
        { outcome: 'granted', parameters: { grant_type: 'refresh_token', client_id: 'other-client' } },
      ]);
    });

    test('are accepted together with tokens that the caller provides', async () => {
      const { accessToken, refreshToken } = emulated().oauth.grant();
      const authentication = {
        ...{ source: 'SERVICENOW', access_token: accessToken, refresh_token: refreshToken, ...credentials() },
      };
      const connect = (given: object) =>
        customer.user.post<{ data_source: { data_source_external_id: string } }>('/integrations/connect', {
          authentication: { ...authentication, ...given },
          sync_options: { sync_source_items: false },
        });
      expect(await connect({ instance_subdomain: 'evil.com/#' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'authentication', 'instance_subdomain'] }] },
      });
      const { body } = await connect({});
      expect(body.data_source.data_source_external_id).toBe(customer.fixture.externalId);
      emulated().oauth.expireAll();
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      const refresh = { parameters: { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } };
      expect(emulated().oauth.requests.at(-1)).toMatchObject(refresh);
    });
  });
}

/** Tests which item types a selection syncs. */
export function defineServiceNowTypeTests(
  catalogue: Catalogue,
  optionSets: readonly TypeOptions[] = ALL_TYPE_OPTIONS,
): void {
  describe('the types of SERVICENOW', () => {
    const customer = new Customer(catalogue, 'SERVICENOW');
    beforeEach(() => customer.resetAndCreateUser());

    test('are selected by auto_synced_source_types and sync_attachments', async () => {
      const { attachments } = (customer.fixture as ServiceNowFixture).emulator;
      const [incidentAttachment, recordAttachment] = [
        attach(attachments, incident, 'keeper', 'portrait', 'Aurelia, painted.'),
        attach(attachments, drill, 'eels', 'plan', 'The plan.'),
      ];
      const { lighthouse, keeper, others, containers } = customer.content;
      let runs = 0;
      const syncedIds = async (config: object, ids = containers): Promise<string[]> => {
        runs += 1;
        await customer.syncFiles(ids, { request_id: `types ${runs}`, ...config });
        await waitFor(
          () => customer.countEvents('ALL_UPLOADED_FILES_QUEUED'),
          (times) => times === runs,
        );
        const files = await customer.files({ request_ids: [`types ${runs}`] });
        return files.map((file) => file.external_file_id).toSorted();
      };
      // The options of the connection apply where a selection sets none.
      await customer.connect({ file_sync_config: configOf({ types: ['INCIDENT'], attachments: false }) });
      expect(await syncedIds({})).toEqual([lighthouse, keeper].toSorted());
      for (const options of optionSets) {
        const { types, attachments: withAttachments } = options;
        const isNamed = (type: string): boolean => types?.includes(type) ?? false;
        const isIncluded = (type: string): boolean => types === undefined || isNamed(type);
        const includesAttachmentsOf = (type: string): boolean =>
          isNamed('ATTACHMENT') || (withAttachments && isIncluded(type));
        const expected = [
          ...(isIncluded('INCIDENT') ? [lighthouse, keeper] : []),
          ...(isIncluded('TABLE') ? others : []),
          ...(includesAttachmentsOf('INCIDENT') ? [incidentAttachment] : []),
          ...(includesAttachmentsOf('TABLE') ? [recordAttachment] : []),
        ];
        expect({ options, ids: await syncedIds({ file_sync_config: configOf(options) }) }).toEqual({
          options,
          ids: expected.toSorted(),
        });
      }
      // An attachment selected by its own id needs no option.
      const incidentsOnly = { file_sync_config: configOf({ types: ['INCIDENT'], attachments: false }) };
      expect(await syncedIds(incidentsOnly, [recordAttachment])).toEqual([recordAttachment]);
    });
  });
}

export function defineServiceNowTests(catalogue: Catalogue): void {
  describe('tables, incidents and attachments of SERVICENOW', () => {
    const customer = new Customer(catalogue, 'SERVICENOW');
    const emulated = () => (customer.fixture as ServiceNowFixture).emulator;
    beforeEach(() => customer.resetAndCreateUser());

    test('can be filtered by type, and contain their journal entries', async () => {
      emulated().tables.get(incident)!.rows.get(sysIdOf('keeper'))!['comments'] = 'Ada: seen on Monday.';
      emulated().tables.get('kb_knowledge')!.rows.get(sysIdOf('crews'))!['text'] =
        '<p>On <b>crews</b> &amp; ships.</p>';
      const portrait = attach(emulated().attachments, incident, 'keeper', 'portrait', 'Aurelia, painted.');
      const { id } = await customer.connect({ sync_source_items: true });
      expect((await customer.items({ parent_id: customer.content.keeper })).items).toMatchObject([
        { external_id: portrait, item_type: 'ATTACHMENT', name: 'portrait.txt' },
      ]);
      await customer.syncFiles(customer.content.containers, { file_sync_config: { sync_attachments: true } });
      await customer.settledFiles(7);
      const ofType = async (type: string) =>
        (await customer.files({ file_types_at_source: [type] })).map((file) => file.external_file_id).toSorted();
      expect(await ofType('INCIDENT')).toEqual([customer.content.lighthouse, customer.content.keeper].toSorted());
      expect(await ofType('TABLE')).toEqual(customer.content.others.toSorted());
      expect(await ofType('ATTACHMENT')).toEqual([portrait]);
      expect(await customer.textOf(portrait)).toContain('Aurelia, painted.');
      expect(await customer.textOf(customer.content.keeper)).toMatch(/INC2: Keeper[\s\S]*Ada: seen on Monday\./);
      expect(await customer.textOf(`kb_knowledge/${sysIdOf('crews')}`)).toContain('On crews & ships.');
      const [hit] = await customer.user.search({
        query: 'Aurelia painted',
        k: 1,
        file_types_at_source: ['ATTACHMENT'],
      });
      expect(hit?.content).toContain('painted');
      const [file] = await customer.files({ external_file_ids: [customer.content.keeper] });
      expect(file).toMatchObject({
        organization_user_data_source_id: id,
        external_url: `${emulated().origin}/harbour/incident.do?sys_id=${sysIdOf('keeper')}`,
        file_metadata: { type: 'INCIDENT', table: incident, number: 'INC2' },
      });
    });

    test('exclude drafts, inactive catalogue items and hidden rows; a page of hidden rows does not end a listing', async () => {
      const { rows } = emulated().tables.get(incident)!;
      for (let n = 0; n < 7; n += 1) {
        rows.set(sysIdOf(`a${n}`), { number: `A${n}` });
        emulated().hidden.add(sysIdOf(`a${n}`));
      }
      const article = emulated().tables.get('kb_knowledge')!.rows.get(sysIdOf('crews'))!;
      article['workflow_state'] = 'draft';
      emulated().tables.get('sc_cat_item')!.rows.get(sysIdOf('docks'))!['active'] = 'false';
      const { id } = await customer.connect({ sync_source_items: true });
      expect((await customer.items()).count).toBe(customer.content.items - 2);
      await customer.syncFiles([`kb_knowledge/${sysIdOf('crews')}`, `sys_script/${sysIdOf('script')}`, incident]);
      const files = await customer.settledFiles(4);
      expect(files.filter((file) => file.sync_status === 'SYNC_ERROR')).toMatchObject([
        {
          external_file_id: `kb_knowledge/${sysIdOf('crews')}`,
          sync_error_message: expect.stringMatching(/no such item/),
        },
        {
          external_file_id: `sys_script/${sysIdOf('script')}`,
          sync_error_message: expect.stringMatching(/no such item/),
        },
      ]);
      expect(id).toBeGreaterThan(0);
    });

    test('are found by a request to each known table if the account may not list tables', async () => {
      emulated().rights.hidesTables = true;
      emulated().tables.set('problem', { ...emulated().tables.get('problem')!, isClosed: true });
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ filters: { root_files_only: true } });
      expect(items.map((item) => item.external_id)).toEqual([incident, 'kb_knowledge', 'sc_cat_item']);
    });

    test('are unchanged while the instance hibernates: nothing is deleted, and the hibernation page is not stored as text', async () => {
      await customer.connect({ sync_source_items: true });
      await customer.syncFiles([customer.content.keeper]);
      const [keeper] = await customer.settledFiles(1);
      emulated().injectFault(() => HIBERNATING);
      expect((await customer.user.post('/resync_file', { file_id: keeper?.id })).status).toBe(200);
      const waiting = await customer.fileWhen(keeper?.id ?? 0, (file) => file.sync_status === 'QUEUED_FOR_SYNC');
      expect(await customer.textOf(customer.content.keeper)).toContain('Aurelia');
      emulated().injectFault(() => null);
      expect(waiting.id).toBe(keeper?.id);
    });
  });
}
