import { beforeAll, describe, expect, test } from '@jest/globals';

import { CALLBACK_PATHS, FACT_FIELDS } from '../../../../contract/oauth.js';
import { CONNECTED_SOURCES, honours } from '../../../../contract/sources.js';
import { isOAuthSource, type OAuthSource } from '../../../../contract/whiteLabel.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../../emulators/oauthProvider.js';
import type { Answer, TestUser } from '../../../support/client.js';
import type { Catalogue, Customer } from '../../../support/sourceStands/catalogue.js';

type Body = Record<string, unknown>;

/** Every field of a connection that is for its files, away from its default. */
const CONFIG = {
  // All that there are: none is left out.
  auto_synced_source_types: ['TICKET', 'ARTICLE', 'CONVERSATION', 'TABLE', 'INCIDENT', 'ATTACHMENT'],
  ...{ sync_attachments: true, detect_audio_language: true, include_speaker_labels: true, split_rows: true },
  ...{ transcription_service: 'assemblyai', generate_chunks_only: true, store_file_only: true },
  // Nothing is fetched: what was asked is read on the record.
  skip_file_processing: true,
};
const EVERY_WISH = {
  ...{ chunk_size: 99, chunk_overlap: 9, skip_embedding_generation: true, embedding_model: 'COHERE_MULTILINGUAL_V3' },
  ...{ generate_sparse_vectors: true, prepend_filename_to_chunks: true, max_items_per_chunk: 7 },
  ...{ set_page_as_boundary: true, use_ocr: true, parse_pdf_tables_with_ocr: true },
  ...{ tags: { asked: 'red' }, file_sync_config: CONFIG },
};
const AS_ASKED = {
  ...{ sync_status: 'READY_TO_SYNC', chunk_size: 99, chunk_overlap: 9, tags: { asked: 'red' } },
  ...{ skip_embedding_generation: true, generate_sparse_vectors: true },
  embedding_properties: { COHERE_MULTILINGUAL_V3: { chunk_size: 99, chunk_overlap: 9 } },
  sync_properties: CONFIG,
};
/** What operations that take a credential have no fields for. */
const BY_CONSENT_ALONE = {
  chunk_properties: { set_page_as_boundary: true, prepend_filename_to_chunks: true, max_items_per_chunk: 7 },
  ocr_properties: { use_ocr: true, parse_pdf_tables_with_ocr: true },
};

/** As the providers describe their pages of consent. */
const COMMA_SCOPES: readonly OAuthSource[] = ['SLACK'];
/** Whoever made the app has chosen its scopes there: an address may name none. */
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
/** OAuth 1.0a names no client in the address; with a client of its own a connection names its own way back. */
const OTHER_ADDRESSES: readonly OAuthSource[] = ['ZOTERO', 'SERVICENOW'];
/** Without these there is no address. */
const NEEDED: Partial<Readonly<Record<OAuthSource, string>>> = {
  ZENDESK: 'zendesk_subdomain',
  SERVICENOW: 'servicenow_credentials',
};
const HOSTILE = ['evil.com/#', '127.0.0.1:8080', 'a@b'];

/** The picker's flags with what they are to bring where a source has a picker. */
const PICKERS = [
  { enable_file_picker: true, automatically_open_file_picker: true, brings: 'opened' },
  { enable_file_picker: true, automatically_open_file_picker: null, brings: 'offered' },
  { enable_file_picker: false, automatically_open_file_picker: true, brings: 'none' },
] as const;

/** What a page of ours has of the picker. */
const pickerIn = (html: string): string =>
  html.includes('<h1 class="plain">Choose from ')
    ? 'opened'
    : html.includes('href="/connections/')
      ? 'offered'
      : 'none';

/**
 * What a connection is asked, field by field: an effect at the sources that honour a field, and none at all others.
 * @param isConnected whether it is connected and files are made; else what is asked is read from the provider's address
 */
export function askedRows(customer: Customer, { said }: Catalogue, isConnected: boolean): void {
  const { type } = customer;
  const isByConsent = CONNECTED_SOURCES[type].auth === 'oauth';
  if (!isByConsent && !isConnected) return;

  describe('what its connection is asked', () => {
    let asked: Body = {};

    beforeAll(async () => {
      await customer.begin();
      // What its stand asks beside what a test does: whose server is meant, for instance.
      const listener: TestUser = {
        ...customer.user,
        post: async <T>(_path: string, body: unknown): Promise<Answer<T>> => {
          asked = body as Body;
          return { status: 599, body: {} as T, headers: new Headers() };
        },
      };
      await customer.stand.connect(listener);
    });

    const ask = (body: Body) =>
      customer.user.post<{ oauth_url: string; detail?: unknown }>('/integrations/oauth_url', body);
    const urlFor = async (body: Body): Promise<URL> => {
      const answer = await ask({ ...asked, ...body });
      expect(answer).toMatchObject({ status: 200 });
      return new URL(answer.body.oauth_url);
    };
    /** Whether the connection has every later selection leave out what is there. */
    const keepsIncremental = async (): Promise<boolean> => {
      const { id, organization_id: organizationId, organization_user_id: userId } = await customer.source();
      const known = await customer.service.store.dataSources.find({ organizationId, userId }, id);
      return known?.options?.incrementalSync ?? false;
    };
    /** Connects, and answers the page that a person sees then; '' of a source without one. */
    const connected = async (body: Body): Promise<string> => {
      const before = said.answers.length;
      await customer.connect(body);
      return said.answers.slice(before).findLast((text) => text.startsWith('<!doctype html>')) ?? '';
    };

    if (isByConsent && isOAuthSource(type)) {
      test('may be nothing but its service, where there is an address without more', async () => {
        const answer = await ask({ service: type });
        const needed = NEEDED[type];
        if (needed === undefined) expect(answer).toMatchObject({ status: 200 });
        else expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(needed) } });
      });

      test('has an address with a state of its own, and a challenge where the provider takes one', async () => {
        const [one, two] = [await urlFor({}), await urlFor({})];
        expect(one.href).not.toBe(two.href);
        expect(one.href).not.toContain(CLIENT_SECRET);
        if (WITH_CHALLENGE.includes(type)) {
          expect(one.searchParams.get('code_challenge')).toMatch(/^[\w-]{43}$/);
          expect(one.searchParams.get('code_challenge_method')).toBe('S256');
          expect(one.searchParams.get('code_challenge')).not.toBe(two.searchParams.get('code_challenge'));
        }
        if (WITHOUT_CHALLENGE.includes(type)) expect(one.searchParams.has('code_challenge')).toBe(false);
        if (OTHER_ADDRESSES.includes(type)) return;
        expect(one.searchParams.get('client_id')).toBe(CLIENT_ID);
        expect(one.searchParams.get('redirect_uri')).toBe(
          `${customer.service.url}/integrations/${CALLBACK_PATHS[type]}`,
        );
        expect(one.searchParams.get('state')?.length).toBeGreaterThanOrEqual(40);
        expect(one.searchParams.get('state')).not.toBe(two.searchParams.get('state'));
      });

      if (isConnected)
        test('asks for the given scopes and no others, as its provider separates them; without any, for the built-in ones', async () => {
          const scopesFor = async (body: Body): Promise<string | null> => {
            const { searchParams } = await urlFor(body);
            // Some call the parameter otherwise.
            return searchParams.get('user_scope') ?? searchParams.get('scope');
          };
          const builtIn = await scopesFor({});
          const between = COMMA_SCOPES.includes(type) ? ',' : ' ';
          for (const [body, scopes] of [
            [{ scopes: ['a.read', 'b:write'] }, ['a.read', 'b:write']],
            [{ scopes: ['a'], scope: 'b' }, ['a']],
            [{ scopes: [], scope: 'b c' }, ['b', 'c']],
          ] as const) {
            const found = await scopesFor(body);
            if (found === null && SCOPES_ELSEWHERE.includes(type)) continue;
            expect({ body, found }).toEqual({ body, found: scopes.join(between) });
          }
          for (const none of [{ scopes: null }, { scopes: [] }, { scope: null }, { scope: '' }])
            expect(await scopesFor(none)).toBe(builtIn);
        });

      test('is led nowhere else by its own fields, and not at all by those of other services', async () => {
        const own = new Set((FACT_FIELDS[type] ?? []).map(({ field }) => field));
        const fields = [...new Set(Object.values(FACT_FIELDS).flatMap((rows) => rows.map(({ field }) => field)))];
        const foreign = Object.fromEntries(
          fields.filter((field) => !own.has(field)).map((field) => [field, HOSTILE[0]]),
        );
        const [usual, other] = [await urlFor({}), await urlFor(foreign)];
        expect(`${other.origin}${other.pathname}`).toBe(`${usual.origin}${usual.pathname}`);
        for (const field of own)
          for (const value of HOSTILE.filter((one) => field !== 'gong_account_email' || !one.includes('@')))
            expect(await ask({ ...asked, [field]: value })).toMatchObject({
              status: 422,
              body: { detail: [{ loc: ['body', field] }] },
            });
        if (type !== ('SERVICENOW' as string)) return;
        for (const value of HOSTILE) {
          const credentials = { ...(asked['servicenow_credentials'] as Body), instance_subdomain: value };
          expect(await ask({ ...asked, servicenow_credentials: credentials })).toMatchObject({ status: 422 });
        }
      });

      if (isConnected)
        test.each(PICKERS)(
          'enable_file_picker $enable_file_picker and automatically_open_file_picker $automatically_open_file_picker',
          async ({ brings, ...flags }) => {
            const wanted = honours(type, 'enable_file_picker') ? brings : 'none';
            // True where it means nothing, false where it would mean something.
            const page = await connected({
              ...flags,
              incremental_sync: flags.enable_file_picker,
              sync_files_on_connection: !honours(type, 'sync_files_on_connection'),
            });
            expect(page).toContain(`${CONNECTED_SOURCES[type].name}`);
            expect(pickerIn(page)).toBe(wanted);
            expect(await keepsIncremental()).toBe(flags.enable_file_picker && honours(type, 'incremental_sync'));
            // The second kind of answer needs no consent, and has the picker or a button.
            const { body } = await ask({ service: type, ...flags });
            expect(body.oauth_url).toMatch(`${customer.service.url}/connections/`);
            const html = await (await fetch(body.oauth_url)).text();
            expect(pickerIn(html)).toBe(wanted === 'none' ? 'none' : 'opened');
            expect(html.includes('value="sync"')).toBe(wanted === 'none');
            expect(await customer.selections()).toBe(0);
            expect(await customer.files()).toEqual([]);
          },
        );
    } else if (isConnected)
      test.each(PICKERS)(
        'enable_file_picker $enable_file_picker and automatically_open_file_picker $automatically_open_file_picker',
        async ({ enable_file_picker: offers, automatically_open_file_picker: opens }) => {
          const page = await connected({
            enable_file_picker: offers,
            automatically_open_file_picker: opens,
            incremental_sync: offers,
            sync_files_on_connection: !honours(type, 'sync_files_on_connection'),
          });
          expect(page).toBe('');
          expect(await keepsIncremental()).toBe(false);
          expect(await customer.selections()).toBe(0);
          expect(await customer.files()).toEqual([]);
        },
      );

    if (isConnected && (isByConsent || honours(type, 'sync_files_on_connection')))
      test('reaches every file: at connection, from the chooser, by later selections', async () => {
        const { content, documents, user } = customer;
        const atOnce = honours(type, 'sync_files_on_connection');
        /** Every wish, with a request of its own: each selection is told to have ended once. */
        const transcriptionOptionsOf = (phase: string) => ({ ...EVERY_WISH, request_id: `${phase} asked of ${type}` });
        const expected = new Map((atOnce ? documents : []).map((id) => [id, isByConsent ? 'page' : 'first']));
        await customer.connect({ ...transcriptionOptionsOf('first'), sync_files_on_connection: true });
        // A file belongs to the run that accepted it last: each phase ends before the next one begins.
        await customer.selectionsDone();
        if (isByConsent) {
          const { body } = await ask({ service: type, ...transcriptionOptionsOf('page') });
          const offers = honours(type, 'enable_file_picker');
          const chosen = content.others[0]!;
          const form = new URLSearchParams(offers ? { action: 'choose', ids: chosen } : { action: 'sync' });
          expect((await fetch(body.oauth_url, { method: 'POST', body: form })).status).toBe(200);
          if (offers) expected.set(chosen, 'page');
          // Without a picker the button lists, as the call asked.
          else await customer.sourceWhen(({ source_items_synced_at: at }) => at !== null);
          await customer.selectionsDone();
        }
        await customer.connect({ ...transcriptionOptionsOf('later'), sync_files_on_connection: false });
        const { id } = await customer.source();
        // Nothing else is said: the rest was asked before.
        // Of some sources other pages lie below the lighthouse; nothing does below the keeper.
        const later = { data_source_id: id, ids: [content.keeper] };
        expect((await user.post('/integrations/files/sync', later)).status).toBe(200);
        expected.set(content.keeper, 'later');
        await customer.selectionsDone();
        // Where something is attached, that comes too.
        const files = await customer.files();
        for (const file of files) expect(file).toMatchObject({ ...AS_ASKED, ...(isByConsent ? BY_CONSENT_ALONE : {}) });
        const requests = new Map(files.map((file) => [file.external_file_id, file.request_id]));
        for (const [externalId, phase] of expected)
          expect([externalId, requests.get(externalId)]).toEqual([externalId, `${phase} asked of ${type}`]);
        // What it says itself goes before, tags and file_sync_config as wholes.
        const own = { chunk_size: 55, tags: { own: 'blue' }, request_id: `own wish of ${type}` };
        const wish = { ...own, file_sync_config: { split_rows: true, skip_file_processing: true } };
        expect((await user.post('/integrations/files/sync', { ...later, ...wish })).status).toBe(200);
        await customer.selectionsDone();
        const mine = (await customer.files()).find((file) => file.external_file_id === content.keeper);
        expect(mine).toMatchObject({ ...own, chunk_overlap: 9, skip_embedding_generation: true });
        expect(mine?.sync_properties).toMatchObject({ split_rows: true, skip_file_processing: true });
        for (const unsaid of ['sync_attachments', 'detect_audio_language', 'transcription_service', 'store_file_only'])
          expect(mine?.sync_properties).not.toHaveProperty(unsaid);
      });
  });
}
