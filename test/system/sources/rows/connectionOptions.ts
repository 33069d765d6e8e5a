import { beforeAll, describe, expect, test } from '@jest/globals';

import { CALLBACK_PATHS, CONNECTION_FIELDS } from '../../../../contract/accounts/oauth.js';
import { supportsOption } from '../../../../contract/sources/sources.js';
import { CONNECTED_SOURCES } from '../../../../contract/sources/connectedSources.js';
import { isOAuthSource, type OAuthSource } from '../../../../contract/accounts/whiteLabel.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../emulators/oauthProvider.js';
import type { Answer, TestUser } from '../../../support/client.js';
import type { Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';
import { thoroughly, thoroughRows } from '../../../support/thorough.js';

type Body = Record<string, unknown>;

/** All fields of file_sync_config, each with a value other than its default. */
const CONFIG = {
  // All types, so that no item is excluded.
  auto_synced_source_types: ['TICKET', 'ARTICLE', 'CONVERSATION', 'TABLE', 'INCIDENT', 'ATTACHMENT'],
  ...{ sync_attachments: true, detect_audio_language: true, include_speaker_labels: true, split_rows: true },
  ...{ transcription_service: 'assemblyai', generate_chunks_only: true, store_file_only: true },
  // No content is downloaded: the tests read the options from the record.
  skip_file_processing: true,
};
const ALL_OPTIONS = {
  ...{ chunk_size: 99, chunk_overlap: 9, skip_embedding_generation: true, embedding_model: 'COHERE_MULTILINGUAL_V3' },
  ...{ generate_sparse_vectors: true, prepend_filename_to_chunks: true, max_items_per_chunk: 7 },
  ...{ set_page_as_boundary: true, use_ocr: true, parse_pdf_tables_with_ocr: true },
  ...{ tags: { asked: 'red' }, file_sync_config: CONFIG },
};
const EXPECTED = {
  ...{ sync_status: 'READY_TO_SYNC', chunk_size: 99, chunk_overlap: 9, tags: { asked: 'red' } },
  ...{ skip_embedding_generation: true, generate_sparse_vectors: true },
  embedding_properties: { COHERE_MULTILINGUAL_V3: { chunk_size: 99, chunk_overlap: 9 } },
  sync_properties: CONFIG,
};
/** Fields of a file that only connections by consent can set. */
const CONSENT_ONLY = {
  chunk_properties: { set_page_as_boundary: true, prepend_filename_to_chunks: true, max_items_per_chunk: 7 },
  ocr_properties: { use_ocr: true, parse_pdf_tables_with_ocr: true },
};

/** Sources whose consent page expects scopes separated by commas. */
const COMMA_SCOPES: readonly OAuthSource[] = ['SLACK'];
/** Sources whose scopes are registered with the provider: the consent URL may contain none. */
const SCOPES_ELSEWHERE: readonly OAuthSource[] = ['BOX', 'INTERCOM', 'NOTION', 'ZOTERO'];
const WITH_CHALLENGE: readonly OAuthSource[] = [
  ...(['GMAIL', 'GOOGLE_DRIVE', 'GOOGLE_CLOUD_STORAGE', 'ONEDRIVE', 'OUTLOOK', 'SHAREPOINT'] as const),
  ...(['DROPBOX', 'SALESFORCE', 'ZENDESK'] as const),
];
const WITHOUT_CHALLENGE: readonly OAuthSource[] = [
  'BOX',
  'CONFLUENCE',
  'GONG',
  'INTERCOM',
  'NOTION',
  'SLACK',
  'ZOTERO',
];
/**
 * Sources whose consent URL has other parameters: OAuth 1.0a has no client id, and a connection with its own client has
 * its own redirect URI.
 */
const OTHER_ADDRESSES: readonly OAuthSource[] = ['ZOTERO', 'SERVICENOW'];
/** Fields that are required to create a consent URL. */
const NEEDED: Partial<Readonly<Record<OAuthSource, string>>> = {
  ZENDESK: 'zendesk_subdomain',
  SERVICENOW: 'servicenow_credentials',
};
const HOSTILE = ['evil.com/#', '127.0.0.1:8080', 'a@b'];

/** The flags of the file picker. `brings` is their effect for sources that have a picker. */
const PICKERS = [
  { enable_file_picker: true, automatically_open_file_picker: true, brings: 'opened' },
  ...thoroughRows([
    { enable_file_picker: true, automatically_open_file_picker: null, brings: 'offered' },
    { enable_file_picker: false, automatically_open_file_picker: true, brings: 'none' },
  ]),
] as const;

/** Returns whether the picker is open in a page, offered by a link, or missing. */
const pickerIn = (html: string): string =>
  html.includes('<h1 class="plain">Choose from ')
    ? 'opened'
    : html.includes('href="/connections/')
      ? 'offered'
      : 'none';

/**
 * Tests each option of a connection: it has its effect for the sources that support it, and none for the others.
 * @param isConnected whether the tests connect accounts and sync files; otherwise they only check consent URLs
 */
export function defineConnectionOptionTests(customer: Customer, { recorded }: Catalogue, isConnected: boolean): void {
  const { type } = customer;
  const isByConsent = CONNECTED_SOURCES[type].auth === 'oauth';
  if (!isByConsent && !isConnected) return;

  describe('the options of its connection', () => {
    let fixtureFields: Body = {};

    beforeAll(async () => {
      await customer.resetAndCreateUser();
      // Records the fields that the fixture adds to those of a test, for instance the subdomain, without connecting.
      const listener: TestUser = {
        ...customer.user,
        post: async <T>(_path: string, body: unknown): Promise<Answer<T>> => {
          fixtureFields = body as Body;
          return { status: 599, body: {} as T, headers: new Headers() };
        },
      };
      await customer.fixture.connect(listener);
    });

    const requestUrl = (body: Body) =>
      customer.user.post<{ oauth_url: string; detail?: unknown }>('/integrations/oauth_url', body);
    const urlFor = async (body: Body): Promise<URL> => {
      const answer = await requestUrl({ ...fixtureFields, ...body });
      expect(answer).toMatchObject({ status: 200 });
      return new URL(answer.body.oauth_url);
    };
    /** Returns whether the connection makes later selections incremental. */
    const keepsIncremental = async (): Promise<boolean> => {
      const { id, organization_id: organizationId, organization_user_id: userId } = await customer.source();
      const storedSource = await customer.service.store.dataSources.find({ organizationId, userId }, id);
      return storedSource?.options?.incrementalSync ?? false;
    };
    /** Connects an account. Returns the page that the user then sees; '' for a source without consent. */
    const connected = async (body: Body): Promise<string> => {
      const before = recorded.answers.length;
      await customer.connect(body);
      return recorded.answers.slice(before).findLast((text) => text.startsWith('<!doctype html>')) ?? '';
    };

    if (isByConsent && isOAuthSource(type)) {
      test('may contain only the service, if the source requires nothing else', async () => {
        const answer = await requestUrl({ service: type });
        const needed = NEEDED[type];
        if (needed === undefined) expect(answer).toMatchObject({ status: 200 });
        else expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(needed) } });
      });

      test('give a consent URL with a new state, and a code challenge if the provider supports it', async () => {
        const [first, second] = [await urlFor({}), await urlFor({})];
        expect(first.href).not.toBe(second.href);
        expect(first.href).not.toContain(CLIENT_SECRET);
        if (WITH_CHALLENGE.includes(type)) {
          expect(first.searchParams.get('code_challenge')).toMatch(/^[\w-]{43}$/);
          expect(first.searchParams.get('code_challenge_method')).toBe('S256');
          expect(first.searchParams.get('code_challenge')).not.toBe(second.searchParams.get('code_challenge'));
        }
        if (WITHOUT_CHALLENGE.includes(type)) expect(first.searchParams.has('code_challenge')).toBe(false);
        if (OTHER_ADDRESSES.includes(type)) return;
        expect(first.searchParams.get('client_id')).toBe(CLIENT_ID);
        expect(first.searchParams.get('redirect_uri')).toBe(
          `${customer.service.url}/integrations/${CALLBACK_PATHS[type]}`,
        );
        expect(first.searchParams.get('state')?.length).toBeGreaterThanOrEqual(40);
        expect(first.searchParams.get('state')).not.toBe(second.searchParams.get('state'));
      });

      if (isConnected)
        test('request exactly the given scopes, separated as its provider expects; without any, the built-in ones', async () => {
          const scopesFor = async (body: Body): Promise<string | null> => {
            const { searchParams } = await urlFor(body);
            // Slack names the parameter user_scope.
            return searchParams.get('user_scope') ?? searchParams.get('scope');
          };
          const builtIn = await scopesFor({});
          const separator = COMMA_SCOPES.includes(type) ? ',' : ' ';
          for (const [body, scopes] of [
            [{ scopes: ['a.read', 'b:write'] }, ['a.read', 'b:write']],
            [{ scopes: ['a'], scope: 'b' }, ['a']],
            [{ scopes: [], scope: 'b c' }, ['b', 'c']],
          ] as const) {
            const actual = await scopesFor(body);
            if (actual === null && SCOPES_ELSEWHERE.includes(type)) continue;
            expect({ body, found: actual }).toEqual({ body, found: scopes.join(separator) });
          }
          for (const none of [{ scopes: null }, { scopes: [] }, { scope: null }, { scope: '' }])
            expect(await scopesFor(none)).toBe(builtIn);
        });

      test('never change the host of the consent URL; fields of other services are ignored', async () => {
        const fieldsOfType = new Set((CONNECTION_FIELDS[type] ?? []).map(({ field }) => field));
        const fields = [...new Set(Object.values(CONNECTION_FIELDS).flatMap((rows) => rows.map(({ field }) => field)))];
        const otherFields = Object.fromEntries(
          fields.filter((field) => !fieldsOfType.has(field)).map((field) => [field, HOSTILE[0]]),
        );
        const [urlWithoutFields, urlWithOtherFields] = [await urlFor({}), await urlFor(otherFields)];
        expect(`${urlWithOtherFields.origin}${urlWithOtherFields.pathname}`).toBe(
          `${urlWithoutFields.origin}${urlWithoutFields.pathname}`,
        );
        for (const field of fieldsOfType)
          for (const value of HOSTILE.filter((host) => field !== 'gong_account_email' || !host.includes('@')))
            expect(await requestUrl({ ...fixtureFields, [field]: value })).toMatchObject({
              status: 422,
              body: { detail: [{ loc: ['body', field] }] },
            });
        if (type !== ('SERVICENOW' as string)) return;
        for (const value of HOSTILE) {
          const credentials = { ...(fixtureFields['servicenow_credentials'] as Body), instance_subdomain: value };
          expect(await requestUrl({ ...fixtureFields, servicenow_credentials: credentials })).toMatchObject({
            status: 422,
          });
        }
      });

      if (isConnected)
        test.each(PICKERS)('offer or open a file picker if the source has one: %j', async ({ brings, ...flags }) => {
          const expected = supportsOption(type, 'enable_file_picker') ? brings : 'none';
          // sync_files_on_connection is true only where it has no effect, so that nothing is synced.
          const page = await connected({
            ...flags,
            incremental_sync: flags.enable_file_picker,
            sync_files_on_connection: !supportsOption(type, 'sync_files_on_connection'),
          });
          expect(page).toContain(`${CONNECTED_SOURCES[type].name}`);
          expect(pickerIn(page)).toBe(expected);
          expect(await keepsIncremental()).toBe(flags.enable_file_picker && supportsOption(type, 'incremental_sync'));
          // If an account is connected, the URL needs no consent: its page has the picker or a button.
          const { body } = await requestUrl({ service: type, ...flags });
          expect(body.oauth_url).toMatch(`${customer.service.url}/connections/`);
          const html = await (await fetch(body.oauth_url)).text();
          expect(pickerIn(html)).toBe(expected === 'none' ? 'none' : 'opened');
          expect(html.includes('value="sync"')).toBe(expected === 'none');
          expect(await customer.selections()).toBe(0);
          expect(await customer.files()).toEqual([]);
        });
    } else if (isConnected)
      test.each(PICKERS)(
        'open no file picker for a source without consent: %j',
        async ({ enable_file_picker: offers, automatically_open_file_picker: opens }) => {
          const page = await connected({
            enable_file_picker: offers,
            automatically_open_file_picker: opens,
            incremental_sync: offers,
            sync_files_on_connection: !supportsOption(type, 'sync_files_on_connection'),
          });
          expect(page).toBe('');
          expect(await keepsIncremental()).toBe(false);
          expect(await customer.selections()).toBe(0);
          expect(await customer.files()).toEqual([]);
        },
      );

    // For sources without OAuth consent, this test runs only in `npm run test:long`, because wholeAccount.ts and
    // own/gitbook.ts already test options of such connections.
    const defineTest = isByConsent ? test : thoroughly;
    if (isConnected && (isByConsent || supportsOption(type, 'sync_files_on_connection')))
      defineTest('apply to every file: of the connection, of the file picker, and of later selections', async () => {
        const { content, documents, user } = customer;
        const syncsOnConnection = supportsOption(type, 'sync_files_on_connection');
        /** Returns all options. Their request id names the phase, so that it shows which phase synced a file last. */
        const optionsOf = (phase: string) => ({ ...ALL_OPTIONS, request_id: `${phase} request of ${type}` });
        const expected = new Map(
          (syncsOnConnection ? documents : []).map((id) => [id, isByConsent ? 'page' : 'first']),
        );
        await customer.connect({ ...optionsOf('first'), sync_files_on_connection: true });
        // The request id of a file is that of its last run, so each phase must end before the next one begins.
        await customer.selectionsDone();
        if (isByConsent) {
          const { body } = await requestUrl({ service: type, ...optionsOf('page') });
          const hasPicker = supportsOption(type, 'enable_file_picker');
          const chosen = content.others[0]!;
          const form = new URLSearchParams(hasPicker ? { action: 'choose', ids: chosen } : { action: 'sync' });
          expect((await fetch(body.oauth_url, { method: 'POST', body: form })).status).toBe(200);
          if (hasPicker) expected.set(chosen, 'page');
          // Without a picker, the button starts a listing of items with the options of the request.
          else await customer.sourceWhen(({ source_items_synced_at: at }) => at !== null);
          await customer.selectionsDone();
        }
        await customer.connect({ ...optionsOf('later'), sync_files_on_connection: false });
        const { id } = await customer.source();
        // The following request has no options, so those of the connection apply.
        // The keeper is selected because it never has children; at some sources the lighthouse has.
        const later = { data_source_id: id, ids: [content.keeper] };
        expect((await user.post('/integrations/files/sync', later)).status).toBe(200);
        expected.set(content.keeper, 'later');
        await customer.selectionsDone();
        // The files include attachments.
        const files = await customer.files();
        for (const file of files) expect(file).toMatchObject({ ...EXPECTED, ...(isByConsent ? CONSENT_ONLY : {}) });
        const requests = new Map(files.map((file) => [file.external_file_id, file.request_id]));
        for (const [externalId, phase] of expected)
          expect([externalId, requests.get(externalId)]).toEqual([externalId, `${phase} request of ${type}`]);
        // Options of the selection take precedence; tags and file_sync_config replace the earlier ones entirely.
        const selectionOptions = { chunk_size: 55, tags: { own: 'blue' }, request_id: `own request of ${type}` };
        const request = { ...selectionOptions, file_sync_config: { split_rows: true, skip_file_processing: true } };
        expect((await user.post('/integrations/files/sync', { ...later, ...request })).status).toBe(200);
        await customer.selectionsDone();
        const keeper = (await customer.files()).find((file) => file.external_file_id === content.keeper);
        expect(keeper).toMatchObject({ ...selectionOptions, chunk_overlap: 9, skip_embedding_generation: true });
        expect(keeper?.sync_properties).toMatchObject({ split_rows: true, skip_file_processing: true });
        for (const unset of ['sync_attachments', 'detect_audio_language', 'transcription_service', 'store_file_only'])
          expect(keeper?.sync_properties).not.toHaveProperty(unset);
      });
  });
}
