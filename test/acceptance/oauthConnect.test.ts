import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../contract/files/records.js';
import { DRIVE_DOCUMENT, DRIVE_ROOT } from '../emulators/googleDrive.js';
import { CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { apiClient, type Listed, type TestUser } from '../support/client.js';
import { answerConsent, consentTo, openPage } from '../support/consent.js';
import { rowsContaining } from '../support/keptTexts.js';
import { withDatabase } from '../support/mongo.js';
import { waitFor } from '../support/waitFor.js';
import { thoroughly } from '../support/thorough.js';
import { closeOAuthService, drive, service, slack, startOAuthService } from './oauth/service.js';
import { testOAuthUrl } from './oauth/url.js';

let user: TestUser;
let customers = 0;

beforeAll(startOAuthService);
afterAll(closeOAuthService);
beforeEach(async () => {
  customers += 1;
  user = await service.user(`owner ${customers}`);
});
afterEach(() => drive.oauth.loseReplies(0));

testOAuthUrl();

/** Option of a connection whose items are not listed. */
const quiet = { sync_source_items: false };
const urlFor = async (body: Record<string, unknown> = {}): Promise<string> => {
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', {
    service: 'GOOGLE_DRIVE',
    ...body,
  });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.oauth_url;
};
const sources = async (): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
const onlySource = async (): Promise<DataSourceRecord> => {
  const allSources = await sources();
  expect(allSources).toHaveLength(1);
  return allSources[0]!;
};

test('consent connects the account, lists its items, and shows a confirmation page', async () => {
  const page = await consentTo(await urlFor());
  expect(page).toMatchObject({ status: 200 });
  expect(page.html).toContain('Google Drive is connected');
  expect(await onlySource()).toMatchObject({
    data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example',
    data_source_type: 'GOOGLE_DRIVE',
    last_sync_action: 'ADD',
    revoked_access: false,
  });
  const listed = await waitFor(onlySource, (source) => source.source_items_synced_at !== null);
  expect(listed.sync_status).toBe('READY');
});

test('each action updates last_sync_action and last_synced_at: connect, deny, choose, cancel, revoke', async () => {
  const states: [action: string, at: string][] = [];
  const recordState = async (): Promise<DataSourceRecord> => {
    const source = await onlySource();
    states.push([source.last_sync_action, source.last_synced_at]);
    return source;
  };
  const picker = { automatically_open_file_picker: true, sync_source_items: false };
  const { url } = await consentTo(await urlFor(picker));
  const { id } = await recordState();
  const decide = (body: Record<string, string>) => fetch(url, { method: 'POST', body: new URLSearchParams(body) });
  await decide({ action: 'choose', ids: 'b' });
  await recordState();
  await decide({ action: 'cancel' });
  await recordState();
  const selection = { data_source_id: id, ids: ['b'], file_sync_config: { skip_file_processing: true } };
  await user.post('/integrations/files/sync', selection);
  await recordState();
  await user.post('/revoke_access_token', { data_source_id: id });
  await recordState();
  await consentTo(await urlFor({ data_source_id: id }), { deny: true });
  expect(await recordState()).toMatchObject({ id, revoked_access: true });
  await consentTo(await urlFor({ data_source_id: id, sync_source_items: false }));
  await recordState();
  expect(states.map(([action]) => action)).toEqual(['ADD', 'UPDATE', 'CANCEL', 'UPDATE', 'REVOKE', 'CANCEL', 'ADD']);
  const times = states.map(([, at]) => at);
  expect(times).toEqual([...new Set(times)].toSorted());
});

describe('redirect from the provider', () => {
  test('opened repeatedly exchanges its code once, creates one record, and shows a page to each request', async () => {
    drive.oauth.requests.length = 0;
    const redirectUrl = await answerConsent(await urlFor({ sync_source_items: false }));
    const pages = await Promise.all(Array.from({ length: 5 }, () => openPage(redirectUrl)));
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
    expect(drive.oauth.requests.filter(({ kind }) => kind === 'token')).toHaveLength(1);
    // A later request connects nothing either.
    const { last_synced_at: at } = await onlySource();
    expect(await openPage(redirectUrl)).toMatchObject({ status: 200 });
    expect((await onlySource()).last_synced_at).toBe(at);
    expect(drive.oauth.requests.filter(({ kind }) => kind === 'token').at(-1)?.outcome).toBe('granted');
  });

  test('connects the account to the user who requested the URL, regardless of who opens the redirect', async () => {
    const consentUrl = await urlFor({ sync_source_items: false });
    const owner = user;
    user = await service.user(`another ${customers}`);
    await consentTo(consentUrl);
    expect(await sources()).toEqual([]);
    user = owner;
    await onlySource();
  });

  test.each([
    '/integrations/google',
    '/integrations/google?state=unknown&code=a',
    '/integrations/google?state[]=a&code=b',
  ])('without a valid state, %s shows an error page', async (path) => {
    const page = await openPage(`${service.url}${path}`);
    expect(page).toMatchObject({ status: 400 });
    expect(page.html).toContain('This link is not valid');
  });

  test('with a state that belongs to another source is refused', async () => {
    const redirectUrl = (await answerConsent(await urlFor(quiet))).replace(
      '/integrations/google',
      '/integrations/slack',
    );
    expect(await openPage(redirectUrl)).toMatchObject({ status: 400 });
    expect(await sources()).toEqual([]);
  });

  test('with an invalid code shows an error with the next step, and no markup of the request', async () => {
    const redirectUrl = new URL(await answerConsent(await urlFor()));
    redirectUrl.searchParams.set('code', '"><script>alert(1)</script>');
    const page = await openPage(redirectUrl.href);
    expect(page).toMatchObject({ status: 400 });
    expect(page.html).toContain('Google Drive was not connected');
    expect(page.html).toContain('connect once more');
    expect(page.html).not.toContain('<script');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(await sources()).toEqual([]);
  });

  test('with a lost reply of the provider fails without a record, and connecting again works', async () => {
    drive.oauth.loseReplies(1);
    const page = await consentTo(await urlFor(quiet));
    expect(page.html).toContain('was lost, so no account was connected');
    expect(await sources()).toEqual([]);
    expect((await consentTo(await urlFor(quiet))).html).toContain('Google Drive is connected');
  });

  test('after a denial shows a page that says so, and connects nothing', async () => {
    const denied = await consentTo(await urlFor(), { deny: true });
    expect(denied).toMatchObject({ status: 200 });
    expect(denied.html).toContain('You did not give your consent');
    expect(await sources()).toEqual([]);
  });

  test('with another error of the provider refers the user to the operator', async () => {
    const redirectUrl = new URL(await answerConsent(await urlFor(), { deny: true }));
    redirectUrl.searchParams.set('error', 'invalid_scope');
    const page = await openPage(redirectUrl.href);
    expect(page).toMatchObject({ status: 400 });
    expect(page.html).toContain('Inform the operator of this service');
  });

  thoroughly('with a failure of the provider itself asks the user to try again later', async () => {
    const redirectUrl = new URL(await answerConsent(await urlFor(), { deny: true }));
    redirectUrl.searchParams.set('error', 'temporarily_unavailable');
    const page = await openPage(redirectUrl.href);
    expect([page.status, page.html]).toEqual([400, expect.stringContaining('Try again later')]);
    expect(page.html).not.toContain('operator');
  });

  test('of an account with a data source updates that record; another account gets a new record', async () => {
    await consentTo(await urlFor({ ...quiet, data_source_tags: { a: '1', b: '1' } }));
    const firstRecord = await onlySource();
    await consentTo(await urlFor({ ...quiet, connecting_new_account: true, data_source_tags: { b: '2' } }));
    const updatedRecord = await onlySource();
    expect(updatedRecord).toMatchObject({ id: firstRecord.id, last_sync_action: 'ADD', tags: { a: '1', b: '2' } });
    expect(updatedRecord.last_synced_at > firstRecord.last_synced_at).toBe(true);
    await consentTo(await urlFor({ ...quiet, connecting_new_account: true }), { person: 'ben@harbour.example' });
    expect(new Set((await sources()).map((source) => source.data_source_external_id))).toEqual(
      new Set(['GOOGLE_DRIVE|ada@harbour.example', 'GOOGLE_DRIVE|ben@harbour.example']),
    );
  });

  test('after its expiry is answered with 410', async () => {
    const redirectUrl = await answerConsent(await urlFor(quiet));
    await withDatabase(service, async (db) => {
      await db.collection('connection_attempts').updateMany({ state: 'waiting' }, { $set: { expiresAt: new Date(0) } });
    });
    // The timer of the workflow is not due yet, so the page itself must check the expiry.
    const page = await Promise.race([openPage(redirectUrl), sleep(3_000)]);
    expect(page ?? 'waiting').toMatchObject({ status: 410 });
  });
});

test('many concurrent calls refresh an expired rotating token once, with the newest refresh token', async () => {
  await consentTo(await urlFor({ ...quiet, service: 'SLACK' }));
  const refreshes = () => slack.oauth.requests.filter(({ parameters }) => parameters['grant_type'] === 'refresh_token');
  for (const iteration of [1, 2]) {
    slack.oauth.expireAll();
    const calls = Array.from({ length: 20 }, () => user.get('/integrations/slack/conversations'));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(refreshes()).toHaveLength(iteration);
  }
  expect(refreshes().every(({ outcome }) => outcome === 'granted')).toBe(true);
  expect(new Set(refreshes().map(({ parameters }) => parameters['refresh_token'])).size).toBe(2);
  expect(await onlySource()).toMatchObject({ revoked_access: false });
});

thoroughly('exports documents in the format set by the organization, for one source or for all', async () => {
  const owner = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  await consentTo(await urlFor({ sync_source_items: false }));
  const { id } = await onlySource();
  const exportedAs = async (settings: Record<string, string | null>): Promise<string | null> => {
    const data_source_configs = Object.fromEntries(
      Object.entries(settings).map(([key, form]) => [key, { google_workspace_docs_save_as: form }]),
    );
    expect((await owner.post('/organization/update', { data_source_configs })).status).toBe(200);
    // Changed content, because an unchanged document is not fetched again.
    drive.files['doc'] = { name: 'Doc', mimeType: DRIVE_DOCUMENT, content: `On ${JSON.stringify(settings)}.` };
    const requestsBefore = drive.requests.length;
    await user.post('/integrations/files/sync', { data_source_id: id, ids: ['doc'] });
    const exportRequest = () => drive.requests.slice(requestsBefore).find((path) => path.includes('/doc/export?'));
    const path = await waitFor(exportRequest, (request) => request !== undefined);
    await waitFor(
      async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
      (files) => files.length === 1 && files[0]!.sync_status === 'READY',
    );
    return new URL(path ?? '', drive.url).searchParams.get('mimeType');
  };
  expect(await exportedAs({ DEFAULT: 'TXT' })).toBe('text/plain');
  expect(await exportedAs({ GOOGLE_DRIVE: 'MD', DEFAULT: 'TXT' })).toBe('text/markdown');
  expect(await exportedAs({ GOOGLE_DRIVE: null, DEFAULT: null })).toBe('text/markdown');
  delete drive.files['doc'];
});

test('stores no secret in plain text', async () => {
  await consentTo(await urlFor(quiet));
  expect(drive.oauth.secrets.length).toBeGreaterThan(3);
  expect(await rowsContaining(service, [...drive.oauth.secrets, CLIENT_SECRET])).toEqual([]);
});

test('item names of an account are escaped on our pages', async () => {
  const name = `<img src=x onerror="alert(1)">'&.txt`;
  drive.files['marked'] = { name, content: 'On marks.' };
  try {
    const page = await consentTo(await urlFor({ automatically_open_file_picker: true, sync_source_items: false }));
    const inside = await openPage(`${page.url}?in=${DRIVE_ROOT}`);
    expect(inside.html).not.toContain('<img');
    await user.post('/integrations/items/sync', { data_source_id: (await onlySource()).id });
    await waitFor(onlySource, (source) => source.source_items_synced_at !== null);
    const listed = await openPage(`${page.url}?in=${DRIVE_ROOT}`);
    expect(listed.html).toContain('&lt;img src=x onerror=');
    expect(listed.html).not.toContain('<img');
  } finally {
    delete drive.files['marked'];
  }
});

describe('file picker', () => {
  test('offers the listed items; a confirmed choice sets UPDATE and becomes files', async () => {
    const page = await consentTo(await urlFor({ tags: { team: 'red' }, chunk_size: 77, request_id: 'r-1' }));
    const path = /href="(\/connections\/[^"]+)"/.exec(page.html)?.[1] ?? '';
    await waitFor(onlySource, (source) => source.source_items_synced_at !== null);
    const chooser = await openPage(`${service.url}${path}`);
    expect(chooser.html).toContain('My Drive');
    expect((await openPage(`${service.url}${path}?in=${DRIVE_ROOT}`)).html).toContain('b.txt');
    const form = new URLSearchParams({ action: 'choose', ids: 'sights' });
    const answer = await fetch(`${service.url}${path}`, { method: 'POST', body: form });
    expect(await answer.text()).toContain('Your selection is being synced');
    expect((await onlySource()).last_sync_action).toBe('UPDATE');
    const files = await waitFor(
      async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
      (results) => results.length === 1 && results[0]!.sync_status === 'READY',
    );
    expect(files[0]).toMatchObject({
      name: 'lighthouse.txt',
      tags: { team: 'red' },
      chunk_size: 77,
      request_id: 'r-1',
    });
  });

  thoroughly('syncs incrementally if requested', async () => {
    const { url } = await consentTo(await urlFor({ automatically_open_file_picker: true, incremental_sync: true }));
    const requestIds = async () =>
      (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results.map((file) => file.request_id);
    const choose = () => fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'choose', ids: 'sights' }) });
    const { id: dataSourceId } = await onlySource();
    const runs = (): Promise<number> =>
      withDatabase(service, async (db) =>
        db.collection('runs').countDocuments({ dataSourceId, kind: 'syncSource', outcome: 'finished' }),
      );
    await choose();
    await waitFor(runs, (count) => count === 1);
    const firstRequestIds = await requestIds();
    expect(firstRequestIds).toHaveLength(1);
    await choose();
    await waitFor(runs, (count) => count === 2);
    // A file synced again would have the request id of the second run.
    expect(await requestIds()).toEqual(firstRequestIds);
  });

  test('opens right after the consent if requested, and is absent if disabled', async () => {
    const opened = await consentTo(await urlFor({ ...quiet, automatically_open_file_picker: true }));
    expect(opened.url).toContain('/connections/');
    expect(opened.html).toContain('Choose from Google Drive');
    const withoutPicker = await consentTo(
      await urlFor({ ...quiet, connecting_new_account: true, enable_file_picker: false }),
    );
    expect(withoutPicker.html).toContain('Google Drive is connected');
    expect(withoutPicker.html).not.toContain('/connections/');
  });

  thoroughly('sets last_sync_action to CANCEL if the user cancels the choice', async () => {
    const { url } = await consentTo(await urlFor({ automatically_open_file_picker: true }));
    await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'cancel' }) });
    expect((await onlySource()).last_sync_action).toBe('CANCEL');
  });

  test('neither opens nor accepts a choice after its expiry', async () => {
    const { url } = await consentTo(await urlFor({ automatically_open_file_picker: true, sync_source_items: false }));
    const { id: dataSourceId } = await onlySource();
    expect(await openPage(url)).toMatchObject({ status: 200 });
    await withDatabase(service, async (db) => {
      await db.collection('connection_attempts').updateOne({ dataSourceId }, { $set: { pageExpiresAt: new Date() } });
    });
    expect(await openPage(url)).toMatchObject({ status: 400 });
    const chosen = await fetch(url, { method: 'POST', body: new URLSearchParams({ action: 'choose', ids: 'b' }) });
    expect(chosen.status).toBe(400);
    expect((await onlySource()).last_sync_action).toBe('ADD');
  });

  test('answers 400 for an unknown address', async () => {
    expect(await openPage(`${service.url}/connections/unknown`)).toMatchObject({ status: 400 });
  });
});
