/** The tools of an operator: the operator page with its live updates, and the diagnosis of data sources. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { itemEnd } from '../../../contract/runs/ledger.js';
import type { DataSourceRecord } from '../../../contract/files/records.js';
import type { FileDoc } from '../../../store/models/files.js';
import { DRIVE_DOCUMENT, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { type HeldSite, startHeldSite } from '../../emulators/heldSite.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { apiClient, type Listed, type TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { connectSource, revokeSource } from '../../support/dataSources.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import type { DiagnosisAnswer } from '../sources/rows/diagnosis.js';

let service: TestService;
let site: HeldSite;
let smallSite: Site;
let drive: GoogleDriveEmulator;
let stranger: { organizationId: number; apiKey: string };

const HOSTILE = '<img src=x onerror="alert(1)"></title><script>alert(2)</script>';

beforeAll(async () => {
  site = await startHeldSite(6);
  smallSite = await startSampleSite(1, 1);
  drive = await startGoogleDrive({ chart: { name: 'Chart', mimeType: DRIVE_DOCUMENT, content: 'Depths.' } });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    OPS_TICK_MS: '200',
    OPS_CLIENTS: '3',
    TRUST_PROXY: 'loopback',
    TEMPORAL_UI_URL: 'https://temporal.example/ui/',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    DIAGNOSIS_TIMEOUT_MS: '2000',
    LOG_LEVEL: 'silent',
  });
  stranger = await service.store.organizations.create('The others');
});
afterAll(async () => {
  site.release();
  await service.close();
  await Promise.all([site.close(), smallSite.close(), drive.close()]);
});

interface PageAnswer {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}
const show = async (path: string, headers: Record<string, string> = {}): Promise<PageAnswer> => {
  const answer = await fetch(`${service.url}${path}`, { headers, redirect: 'manual' });
  return { status: answer.status, html: await answer.text(), headers: answer.headers };
};
const byKey = (apiKey = service.apiKey) => ({ authorization: `Bearer ${apiKey}` });
const send = async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams(form);
  const answer = await fetch(`${service.url}${path}`, { method: 'POST', body, headers, redirect: 'manual' });
  return { status: answer.status, html: await answer.text(), headers: answer.headers };
};
/** Signs in. Returns the cookie header that a browser sends from then on. */
async function signIn(apiKey = service.apiKey): Promise<{ cookie: string }> {
  const { status, headers } = await send('/ops/sign_in', { api_key: apiKey });
  expect(status).toBe(303);
  expect(headers.get('location')).toBe('/ops');
  return { cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
}

interface EventStream {
  readonly status: number;
  readonly events: { readonly event: string; readonly data: { part?: string; html?: string } }[];
  readonly raw: () => string;
  readonly ended: Promise<void>;
  close(): void;
}
/** Opens the event stream as a browser's EventSource does. */
function openEvents(headers: Record<string, string>, query = ''): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const call = request(`${service.url}/ops/events${query}`, { headers }, (answer) => {
      const events: EventStream['events'][number][] = [];
      let [raw, open] = ['', ''];
      answer.setEncoding('utf8').on('data', (text: string) => {
        raw += text;
        open += text;
        const blocks = open.split('\n\n');
        open = blocks.pop() ?? '';
        for (const block of blocks) {
          const [, event] = /^event: (.*)$/m.exec(block) ?? [];
          const [, data] = /^data: (.*)$/m.exec(block) ?? [];
          if (event !== undefined && data !== undefined)
            events.push({ event, data: JSON.parse(data) as EventStream['events'][number]['data'] });
        }
      });
      const ended = new Promise<void>((done) => answer.on('close', () => done()));
      resolve({ status: answer.statusCode ?? 0, events, raw: () => raw, ended, close: () => void call.destroy() });
    });
    call.on('error', reject);
    call.end();
  });
}
const latest = ({ events }: EventStream, part: string): string =>
  events.findLast(({ data }) => data.part === part)?.data.html ?? '';

describe('access to the operator page', () => {
  test('without credentials shows only the form that asks for a key', async () => {
    for (const path of ['/ops', '/ops/files?cause=encrypted']) {
      const { status, html, headers } = await show(path);
      expect(status).toBe(401);
      expect(html).toContain('<form method="post" action="/ops/sign_in"');
      expect(html).toContain('type="password"');
      expect(html).not.toContain('organization 1');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    const { status, html } = await show('/ops/events');
    expect({ status, body: JSON.parse(html) as unknown }).toEqual({
      status: 401,
      body: { detail: expect.any(String) },
    });
  });

  test('refuses an unknown key, and does not repeat it', async () => {
    const { status, html, headers } = await send('/ops/sign_in', { api_key: `"><script>${HOSTILE}` });
    expect(status).toBe(401);
    expect(html).toContain('This key is unknown, or was revoked.');
    expect(html).not.toContain('alert(1)');
    expect(headers.get('set-cookie')).toBeNull();
    expect((await send('/ops/sign_in', {})).html).toContain('Give the API key');
  });

  test('exchanges a key for a cookie that scripts cannot read and other sites cannot send', async () => {
    const { status, headers } = await send('/ops/sign_in', { api_key: ` ${service.apiKey}\n` });
    expect(status).toBe(303);
    const cookie = headers.get('set-cookie') ?? '';
    for (const part of ['Path=/ops', 'HttpOnly', 'SameSite=Strict', 'Max-Age=3600']) expect(cookie).toContain(part);
    expect(cookie).not.toContain(service.apiKey);
    // Over plain HTTP, browsers send no Secure cookie.
    expect(cookie).not.toContain('Secure');
    const { html, status: shown } = await show('/ops', { cookie: cookie.split(';')[0] ?? '' });
    expect(shown).toBe(200);
    expect(html).toContain('(organization 1)');
    expect(html).not.toContain(service.apiKey);
  });

  test('lets no other site sign a browser in or out', async () => {
    const { cookie } = await signIn();
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }])
      for (const path of ['/ops/sign_in', '/ops/sign_out'])
        expect(await send(path, { api_key: service.apiKey }, { cookie, ...headers })).toMatchObject({ status: 403 });
    expect((await show('/ops', { cookie })).status).toBe(200);
    const ownHeaders = { origin: service.url, 'sec-fetch-site': 'same-origin' };
    expect((await send('/ops/sign_in', { api_key: service.apiKey }, ownHeaders)).status).toBe(303);
  });

  test('refuses a cookie that was altered, has another purpose, or whose key was revoked', async () => {
    const { cookie } = await signIn();
    const [name, value = ''] = cookie.split('=');
    const [id, claims = '', signature] = value.split('.');
    const other = {
      ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object),
      o: stranger.organizationId,
    };
    const forged = `${id}.${Buffer.from(JSON.stringify(other)).toString('base64url')}.${signature}`;
    const { token } = await service.user('zoe');
    for (const bad of [forged, `${value}x`, token, token.replace('alt.', ''), '']) {
      expect((await show('/ops', { cookie: `${name}=${bad}` })).status).toBe(401);
      expect((await show('/ops/events', { cookie: `${name}=${bad}` })).status).toBe(401);
    }
    // The API does not accept the cookie as a credential.
    expect((await show('/organization', { cookie })).status).toBe(401);
    const createdKey = await service.store.apiKeys.create(1);
    const revoked = await signIn(createdKey!.apiKey);
    expect((await show('/ops', revoked)).status).toBe(200);
    await service.store.apiKeys.revoke(createdKey!.id, false);
    expect((await show('/ops', revoked)).status).toBe(401);
    expect(await show('/ops', byKey(createdKey!.apiKey))).toMatchObject({ status: 401 });
  });

  test('refuses the access token of a user', async () => {
    const { token } = await service.user('zoe');
    expect((await show('/ops', { authorization: `Token ${token}` })).status).toBe(403);
  });

  test('ends at sign-out, also for a kept cookie and for open event streams', async () => {
    const session = await signIn();
    const stream = await openEvents(session);
    expect(stream.status).toBe(200);
    await waitFor(
      () => latest(stream, 'tiles'),
      (html) => html !== '',
    );
    const { status, headers } = await send('/ops/sign_out', {}, session);
    expect(status).toBe(303);
    expect(headers.get('set-cookie')).toMatch(/^allotrope_ops=;.*Max-Age=0/);
    await stream.ended;
    expect(stream.events.at(-1)?.event).toBe('signed-out');
    expect((await show('/ops', session)).status).toBe(401);
  });
});

test('runs only its own scripts and styles, and loads nothing from elsewhere', async () => {
  const [first, second] = [await show('/ops', byKey()), await show('/ops', byKey())];
  const policyOf = ({ headers }: PageAnswer): string => headers.get('content-security-policy') ?? '';
  const [, nonce = ''] = /script-src 'nonce-([^']+)'/.exec(policyOf(first)) ?? [];
  expect(nonce.length).toBeGreaterThanOrEqual(20);
  expect(policyOf(first)).toMatch(/^default-src 'none'; /);
  expect(policyOf(first)).not.toMatch(/unsafe|\*|https?:/);
  expect(policyOf(second)).not.toContain(nonce);
  for (const tag of first.html.matchAll(/<(?:script|style)\b[^>]*>/g)) expect(tag[0]).toContain(`nonce="${nonce}"`);
  expect(first.html).not.toMatch(/\son\w+=|\sstyle=|javascript:/);
  expect(first.html).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="https?:/);
  expect(first.headers.get('x-frame-options')).toBe('DENY');
  expect(first.headers.get('referrer-policy')).toBe('same-origin');
});

describe('the content of the operator page', () => {
  let [missing, driveId] = [0, 0];
  let zoe: TestUser;
  beforeAll(async () => {
    zoe = await service.user('zoe');
    const { body: failed } = await zoe.post<{ id: number }>('/upload_text', {
      contents: 'The harbour is open.',
      name: HOSTILE,
      skip_embedding_generation: true,
    });
    await waitFor(
      () => zoe.file(failed.id),
      (file) => file.sync_status === 'READY',
    );
    // The run compares its counts with the files when it ends, so the file is changed only afterwards.
    await waitFor(
      () =>
        withDatabase(service, (db) => db.collection('runs').countDocuments({ customerId: 'zoe', finishedAt: null })),
      (open) => open === 0,
    );
    await withDatabase(service, (db) =>
      db.collection<FileDoc>('files').updateOne(
        { _id: failed.id },
        {
          $set: {
            // The test makes this change after the run has ended, so no run counts it.
            runId: null,
            ended: itemEnd('failed', 'read', 'encrypted'),
            syncStatus: 'SYNC_ERROR',
            syncErrorMessage: `It could not be read: ${HOSTILE}. Send it again.`,
            externalUrl: 'javascript:alert(3)',
          },
        },
      ),
    );
    missing = (await zoe.scrape({ url: site.url('/missing.xml') })).id;
    const owner = await service.store.users.ensure(1, HOSTILE);
    const dataSource = await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${HOSTILE}` });
    driveId = dataSource._id;
    await withDatabase(service, async (db) => {
      const [now, day] = [Date.now(), 86_400_000];
      await db
        .collection<{ _id: number }>('dataSources')
        .updateOne({ _id: driveId }, { $set: { sourceItemsSyncedAt: new Date(), 'metadata.deletions_held': 412 } });
      await db
        .collection<FileDoc>('files')
        .updateOne({ _id: missing }, { $set: { 'fileMetadata.deletions_held': 34 } });
      const put = {
        organizationId: 1,
        userId: owner.userId,
        customerId: HOSTILE,
        parentId: null,
        missedBy: 1,
        runId: 1,
      };
      const rows = [3, 5, 9].map((days, index) => ({
        ...{ ...put, _id: index + 1, dataSourceId: driveId, state: index === 2 ? 'erasing' : 'kept', copy: null },
        ...{ quarantinedAt: new Date(now), keptUntil: new Date(now + days * day), file: {} },
      }));
      // A file that is being erased cannot be restored.
      await db.collection<{ _id: number }>('quarantined_files').insertMany(rows);
    });
    const { _id } = await connectSource(service, owner, { type: 'NOTION', externalId: 'NOTION|gone' });
    await revokeSource(service, owner, _id);
    const others = await service.store.users.ensure(stranger.organizationId, 'otto');
    await connectSource(service, others, { type: 'SLACK', externalId: 'SLACK|a secret account' });
  });

  test('lists data sources by state, failures with remedies, and figures, and escapes external text', async () => {
    const { html } = await waitFor(
      () => show('/ops', byKey()),
      (page) => page.html.includes('It could not be read'),
    );
    expect(html).toContain('&lt;script&gt;alert(2)');
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('<img');
    expect(html).toContain('no access');
    expect(html.indexOf('no access')).toBeLessThan(html.indexOf('Google Drive'));
    expect(html).toContain('Notion');
    expect(html).toContain(
      'href="https://temporal.example/ui/namespaces/default/workflows?query=OrganizationId%3D%221%22%20AND%20TaskQueue%3D%22',
    );
    const link = /href="(\/ops\/files\?cause=encrypted)"/.exec(html)?.[1] ?? '';
    const list = await show(link, byKey());
    expect(list.status).toBe(200);
    expect(list.html).toContain('&lt;img src=x onerror=');
    expect(list.html).not.toContain('<img');
    expect(list.html).not.toContain('href="javascript');
    expect((await show('/ops?state=revoked', byKey())).html).not.toContain('Google Drive');
    for (const odd of ['?state=nothing&page=x', `?state=${encodeURIComponent(HOSTILE)}`, '?page=999'])
      expect((await show(`/ops${odd}`, byKey())).status).toBe(200);
  });

  test("shows the caller's organization only", async () => {
    const ownPage = (await show('/ops', byKey())).html;
    const strangersPage = (await show('/ops', byKey(stranger.apiKey))).html;
    expect(ownPage).not.toContain('a secret account');
    expect(ownPage).not.toContain('The others');
    expect(strangersPage).toContain('a secret account');
    expect(strangersPage).toContain(`The others (organization ${stranger.organizationId})`);
    expect(strangersPage).not.toContain('Notion');
    expect(strangersPage).toContain('No file has failed.');
    const link = /href="(\/ops\/files\?cause=encrypted)"/.exec(ownPage)?.[1] ?? '';
    expect((await show(link, byKey(stranger.apiKey))).html).not.toContain('alert(');
  });

  test('lists failures by cause with the remedy, and links to Temporal', async () => {
    const failures = async () => {
      const { html } = await show('/ops', byKey());
      return html.slice(html.indexOf('id="part-failures"'), html.indexOf('id="part-sources"'));
    };
    const html = await waitFor(failures, (text) => text.includes('cause=not_found'));
    expect(html).toMatch(/<b>encrypted<\/b>: Remove the password and send it again\./);
    expect(html).toMatch(/<b>not found<\/b>: Check that it still exists, or omit it\./);
    expect(html).toContain(
      `href="https://temporal.example/ui/namespaces/default/workflows/${service.names.deploymentId}%3Ascrape%3A${missing}"`,
    );
    const other = (await zoe.scrape({ url: site.url('/gone.xml') })).id;
    // Two messages of one cause are one row.
    const second = await waitFor(failures, (text) => text.includes('2 files: not found'));
    expect(second.match(/cause=not_found/g)).toHaveLength(1);
    const list = (await show('/ops/files?cause=not_found', byKey())).html;
    for (const id of [missing, other])
      expect(list).toContain(`workflows/${service.names.deploymentId}%3Ascrape%3A${id}"`);
    expect(list).not.toContain('It could not be read');
    // Without a valid `cause`, the page lists files that failed without a known cause. There are none here.
    for (const odd of ['', '?cause=none', '?cause=nonsense'])
      expect((await show(`/ops/files${odd}`, byKey())).html).toContain('No file has this cause.');
  });

  test('lists pending decisions with the request to send', async () => {
    const decisions = async () => {
      const { html } = await show('/ops', byKey());
      return html.slice(html.indexOf('id="part-decisions"'), html.indexOf('id="part-runs"'));
    };
    const { id, request_id } = await zoe.scrape({ url: smallSite.url('/sitemap.xml'), max_tokens: 1 });
    const html = await waitFor(decisions, (text) => text.includes('/resume'));
    const run = Number(/POST \/sync_runs\/(\d+)\/resume/.exec(html)?.[1]);
    expect(html).toContain('customer-id: zoe');
    expect(html).toContain(`workflows/${service.names.deploymentId}%3Ascrape%3A${id}"`);
    expect(html).toContain(`POST /data_sources/${driveId}/held_deletions/approve`);
    expect(html).toContain(`POST /files/${missing}/held_deletions/approve`);
    const page = (await show('/ops', byKey())).html;
    const strangersPage = (await show('/ops', byKey(stranger.apiKey))).html;
    expect(strangersPage).not.toMatch(/held_deletions|\/sync_runs\//);
    expect(page).toContain('1 paused');
    // The requests shown on the page work.
    expect((await zoe.get<{ request_id: string }>(`/sync_runs/${run}`)).body.request_id).toBe(request_id);
    expect((await zoe.post(`/sync_runs/${run}/resume`, { max_tokens: null })).status).toBe(200);
    const key = apiClient(service.url, byKey());
    for (const held of [`data_sources/${driveId}`, `files/${missing}`])
      expect((await key.post(`/${held}/held_deletions/refuse`, {})).status).toBe(200);
    await waitFor(decisions, (text) => !text.includes('POST /'));
    await zoe.settled(id);
  });

  test('lists quarantined files by data source with their deadline and the request that restores them', async () => {
    const { html } = await show('/ops', byKey());
    const card = html.slice(html.indexOf('id="part-quarantine"'), html.indexOf('id="part-webhooks"'));
    expect(card).toContain('2 files that vanished');
    expect(card).toContain(`POST /quarantined_files/restore {&quot;data_source_id&quot;: ${driveId}}`);
    expect(card.match(/<time /g)).toHaveLength(2);
    expect(html).toContain(`workflows/${service.names.deploymentId}%3Async-items%3A${driveId}"`);
    const strangersPage = (await show('/ops', byKey(stranger.apiKey))).html;
    expect(strangersPage).toContain('No file is in quarantine.');
    expect(strangersPage).not.toContain('quarantined_files/restore');
  });

  test('lists webhooks with their last deliveries', async () => {
    const key = apiClient(service.url, byKey());
    const url = 'http://127.0.0.1:9/hook';
    expect((await key.post('/add_webhook', { url })).status).toBe(200);
    const { html } = await show('/ops', byKey());
    expect(html).toContain('Webhook deliveries');
    const shown = await waitFor(
      () => show('/ops', byKey()),
      (page) => page.html.includes(url),
    );
    expect(shown.html).toContain('active');
    expect(html).toContain('Storage');
  });
});

describe('live updates of the operator page', () => {
  test('show the start and the progress of a run to all viewers of the organization, and to no other', async () => {
    const zoe = await service.user('zoe');
    const [first, second] = [await openEvents(byKey()), await openEvents(await signIn(), '?state=ready')];
    const strangersStream = await openEvents(byKey(stranger.apiKey));
    expect(first.raw()).toMatch(/^retry: \d+\n\n/);
    const { id } = await zoe.scrape({ url: site.url('/sitemap.xml') });
    for (const stream of [first, second])
      await waitFor(
        () => latest(stream, 'runs'),
        (html) => html.includes('sitemap.xml') && html.includes('<progress'),
      );
    expect(latest(first, 'runs')).toMatch(
      /href="https:\/\/temporal\.example\/ui\/namespaces\/default\/workflows\/[a-z0-9]{8}%3Ascrape%3A/,
    );
    await waitFor(
      () => latest(first, 'runs'),
      (html) => /\b2 of 6\b/.test(html),
    );
    site.release();
    await zoe.settled(id);
    await waitFor(
      () => latest(first, 'runs'),
      (html) => !html.includes('sitemap.xml'),
    );
    expect(strangersStream.raw()).not.toContain('sitemap.xml');
    // The maximum of viewers is reached.
    const full = await show('/ops/events', byKey());
    expect(full.status).toBe(503);
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const stream of [first, second, strangersStream]) stream.close();
    const again = await waitFor(
      () => openEvents(byKey()),
      ({ status }) => status === 200,
    );
    await waitFor(
      () => again.events.length,
      (events) => events >= 8,
    );
    again.close();
  });
});

describe('the diagnosis of a data source', () => {
  const connected = async (customerId: string, body: object = {}): Promise<{ user: TestUser; id: number }> => {
    const user = await service.user(customerId);
    const fields = { service: 'GOOGLE_DRIVE', connecting_new_account: true, sync_source_items: false, ...body };
    const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', fields);
    expect(await consentTo(answer.body.oauth_url)).toMatchObject({ status: 200 });
    const { results } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
    return { user, id: results[0]!.id };
  };
  const diagnose = async (user: TestUser, id: number) => {
    const { status, body } = await user.get<DiagnosisAnswer>(`/data_sources/${id}/diagnosis`);
    expect(status).toBe(200);
    return { ...body, of: (part: string) => body.checks.find(({ name }) => name === part)! };
  };

  test('is available to its own user only', async () => {
    const { id } = await connected('owner');
    const other = await service.user('other');
    const strangersUser = await service.user('owner', stranger.apiKey);
    for (const user of [other, strangersUser])
      expect(await user.get(`/data_sources/${id}/diagnosis`)).toMatchObject({
        status: 404,
        body: { detail: 'No such data source.' },
      });
    expect((await other.get('/data_sources/nine/diagnosis')).status).toBe(422);
    expect((await fetch(`${service.url}/data_sources/${id}/diagnosis`)).status).toBe(401);
  });

  test('names scopes missing from the consent, and renews an expired token', async () => {
    const narrow = 'https://www.googleapis.com/auth/drive.metadata.readonly';
    const { user, id } = await connected('narrow', { scopes: [narrow] });
    const { status, of } = await diagnose(user, id);
    expect(status).toBe('warn');
    expect(of('scopes')).toMatchObject({
      status: 'warn',
      fix: expect.stringMatching(/^Connect the account again/),
      details: { granted: [narrow], missing: ['https://www.googleapis.com/auth/drive.readonly'] },
    });
    const refreshes = () =>
      drive.oauth.requests.filter(({ parameters }) => parameters['grant_type'] === 'refresh_token');
    const before = refreshes().length;
    drive.oauth.expireAll();
    expect((await diagnose(user, id)).of('credential')).toMatchObject({ status: 'ok', details: { refreshable: true } });
    expect(refreshes().length).toBe(before + 1);
  });

  test('answers in time with all other checks when the source hangs', async () => {
    const { user, id } = await connected('silent');
    drive.injectFault(() => 'hang');
    const { took_ms: took, of } = await diagnose(user, id);
    drive.reset();
    expect(took).toBeGreaterThanOrEqual(1_900);
    expect(took).toBeLessThan(20_000);
    expect(of('credential')).toMatchObject({ status: 'warn', details: { cause: 'timed_out' } });
    for (const part of ['scopes', 'limits', 'schedule', 'last_failures']) expect(of(part).status).toBe('ok');
  });

  test('shows the next sync as scheduled in Temporal', async () => {
    const { user, id } = await connected('regular');
    expect((await diagnose(user, id)).of('schedule').details).toMatchObject({ auto_sync: 'off', next_run_at: null });
    const key = apiClient(service.url, byKey());
    const config = { customer_ids: ['regular'], auto_sync_enabled_sources: ['GOOGLE_DRIVE'], auto_sync_interval: 6 };
    expect((await key.post('/update_users', config)).status).toBe(200);
    const { details } = await waitFor(
      async () => (await diagnose(user, id)).of('schedule'),
      ({ status }) => status === 'ok',
    );
    expect(details).toMatchObject({ auto_sync: 'on', interval_hours: 6 });
    const next = Date.parse(String(details['next_run_at'])) - Date.now();
    expect(next).toBeGreaterThan(0);
    expect(next).toBeLessThan(6 * 3_600_000 + 60_000);
    expect((await show('/ops', byKey())).html).toContain('every 6 h');
  });

  test('shows failures by cause, and how the last runs ended', async () => {
    const { user, id } = await connected('failing');
    drive.injectFault((path) => (path === '/drive/v3/files/chart/export' ? { status: 403 } : null));
    const selected = await user.post('/integrations/files/sync', { data_source_id: id, ids: ['chart'] });
    expect(selected.status).toBe(200);
    const { status, of } = await waitFor(
      () => diagnose(user, id),
      (answer) => answer.of('last_failures').details['failed_files'] === 1,
    );
    drive.reset();
    expect(status).toBe('warn');
    expect(of('last_failures')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^1 file failed because: Google Drive/),
      details: {
        causes: [
          {
            ...{ cause: 'access_denied', remedy: 'Ask its owner for access, then retry it.', files: 1 },
            ...{ sentence: expect.stringMatching(/Google Drive/), workflow_url: expect.stringMatching(/sync-source/) },
          },
        ],
        runs: expect.arrayContaining([
          expect.objectContaining({ kind: 'syncSource', workflow_url: expect.stringMatching(/sync-source/) }),
        ]),
      },
    });
  });
});

test('refuses a sign-in whose origin only matches a forged Host header', async () => {
  const sent = request(`${service.url}/ops/sign_in`, {
    method: 'POST',
    headers: { host: 'evil', origin: 'http://evil', 'content-type': 'application/x-www-form-urlencoded' },
  });
  sent.end(new URLSearchParams({ api_key: service.apiKey }).toString());
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(403);
});

test('counts attempted keys by the client address that a trusted proxy forwards', async () => {
  const guess = async (forwarded: string) =>
    (await send('/ops/sign_in', { api_key: 'alk_guess' }, { 'x-forwarded-for': forwarded })).status;
  // The client can forge the entries to the left of the entry that the proxy adds.
  let tries = 0;
  while ((await guess(`10.9.8.${tries % 250}, 203.0.113.7`)) !== 429) {
    tries += 1;
    expect(tries).toBeLessThan(200);
  }
  expect(tries).toBeGreaterThanOrEqual(10);
  const others = await Promise.all(Array.from({ length: 9 }, (_, number) => guess(`203.0.113.${20 + number}`)));
  expect(others).toEqual(others.map(() => 401));
});

test('limits attempts with unknown keys, but not the requests of signed-in users', async () => {
  const session = await signIn();
  const answers: number[] = [];
  for (let tries = 0; tries < 12; tries += 1)
    answers.push((await send('/ops/sign_in', { api_key: `alk_guess${tries}` })).status);
  expect(answers[0]).toBe(401);
  const { status, html, headers } = await send('/ops/sign_in', { api_key: service.apiKey });
  expect(status).toBe(429);
  expect(html).toContain('Too many keys were tried.');
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await show('/ops', session)).status).toBe(200);
});
