import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { nextRequests } from '../emulators/emulator.js';
import {
  HIBERNATING,
  timestampOf,
  type ServiceNowEmulator,
  startServiceNow,
  sysIdOf,
} from '../emulators/serviceNow.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { accountWithStoredGrant, obtainGrant, REDIRECT_URI } from './grants.js';

let egress: Egress;
let serviceNow: ServiceNowEmulator;
let account: Account;

const CONNECTION = { instance: 'harbour' };
const accountOf = (credentials: object = {}, timeLimitMs = 30_000): Account => {
  const { accessToken } = serviceNow.oauth.grant();
  return accountWith(
    'SERVICENOW',
    serviceNow.settings,
    { accessToken, facts: CONNECTION, ...credentials },
    egress,
    timeLimitMs,
  );
};
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const idOf = (table: string, record: string): string => `${table}/${sysIdOf(record)}`;
const rowsOf = (table: string) => serviceNow.tables.get(table)!.rows;

const LONG_AGO = '2026-01-07 09:00:00';
function putRecord(table: string, name: string, more: Record<string, string> = {}): void {
  rowsOf(table).set(sysIdOf(name), {
    ...{ number: `N-${name}`, short_description: `About ${name}`, sys_mod_count: '0', workflow_state: 'published' },
    ...{ sys_created_on: LONG_AGO, sys_updated_on: LONG_AGO, active: 'true', description: `On ${name}.` },
    ...{ text: `<p>On <b>${name}</b>.</p>`, ...more },
  });
}
const attach = (table: string, record: string, name: string, created = LONG_AGO): string => {
  const attachment = { table, record: sysIdOf(record), name: `${name}.txt`, type: 'text/plain' };
  serviceNow.attachments.set(sysIdOf(name), { ...attachment, content: `On ${name}.`, created });
  return `${idOf(table, record)}/${sysIdOf(name)}`;
};

/** Reads the change feed from a cursor to its end. */
async function readChanges(from: string) {
  const changed: string[] = [];
  const deletedPaths: string[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page = await account.changes!.since(cursor, NEVER);
    changed.push(...page.changes.map((change) => ('gone' in change ? `gone ${change.gone}` : change.item.externalId)));
    deletedPaths.push(...(page.deletedPaths ?? []));
    ({ more, next: cursor } = page);
  }
  return { changed, deletedPaths };
}

beforeAll(async () => {
  egress = loopbackEgress();
  serviceNow = await startServiceNow();
});
afterAll(async () => {
  await egress.close();
  await serviceNow.close();
});
beforeEach(() => {
  serviceNow.reset();
  for (const map of [serviceNow.tables, serviceNow.attachments, serviceNow.labels]) map.clear();
  serviceNow.hidden.clear();
  Object.assign(serviceNow.rights, { hidesTables: false, ignoresScripts: false, countsAttachments: true });
  for (const [name, label, kindOf] of [
    ['incident', 'Incident', 'task'],
    ['kb_knowledge', 'Knowledge', ''],
    ['u_drill', 'Drill', 'task'],
    ['u_note', 'Note', ''],
    ['sys_script', 'Script', ''],
  ] as const)
    serviceNow.tables.set(name, { label, kindOf, rows: new Map() });
  for (const name of ['a', 'b', 'c', 'd', 'e']) putRecord('incident', name);
  putRecord('kb_knowledge', 'tides');
  putRecord('kb_knowledge', 'draft', { workflow_state: 'draft' });
  putRecord('u_drill', 'drill');
  account = accountOf();
});

describe('the connection', () => {
  test('requests consent at the instance, and identifies the user of the session', async () => {
    const { url, grant } = await obtainGrant('SERVICENOW', serviceNow.settings, egress, CONNECTION);
    // https://www.servicenow.com/docs/r/platform-security/authentication/c_OAuthAuthorizationCodeFlow.html
    expect(url.pathname).toBe('/harbour/oauth_auth.do');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ response_type: 'code', redirect_uri: REDIRECT_URI, state: 'the-state', scope: 'useraccount' },
    });
    expect(grant.expiresAt! - grant.obtainedAt).toBe(1_800_000);
    expect(await accountOf({ ...grant }).identify(NEVER)).toEqual({
      account: 'ada.lee|harbour',
      metadata: {
        ...{ user_id: sysIdOf('ada.lee'), user_name: 'Ada', email: 'ada.lee@harbour.example', instance: 'harbour' },
      },
    });
  });

  test('rejects the identity if the instance ignores the query for the current user and returns all users', async () => {
    serviceNow.rights.ignoresScripts = true;
    expect(await faultOf(account.identify(NEVER))).toMatchObject({
      kind: 'access_denied',
      message: expect.stringContaining('administrator'),
    });
  });

  test('refreshes an expired access token with the same refresh token, until the refresh is rejected', async () => {
    const { grant } = await obtainGrant('SERVICENOW', serviceNow.settings, egress, CONNECTION);
    const stored = accountWithStoredGrant('SERVICENOW', serviceNow.settings, grant, egress);
    serviceNow.oauth.expireAll();
    expect((await stored.account.listRoots(null, NEVER)).items).not.toEqual([]);
    expect(stored.current().accessToken).not.toBe(grant.accessToken);
    expect(stored.current().refreshToken).toBe(grant.refreshToken);
    serviceNow.oauth.revoke();
    expect(await faultOf(stored.account.listRoots(null, NEVER))).toMatchObject({ kind: 'access_revoked' });
  });

  test('ends when the refresh token expires, which ServiceNow reports with its own error message', async () => {
    const { grant } = await obtainGrant('SERVICENOW', serviceNow.settings, egress, CONNECTION);
    const refusal = { status: 401, body: { error: 'server_error', error_description: 'access_denied' } };
    serviceNow.oauth.expireAll();
    serviceNow.oauth.refuseRefreshes(1, refusal);
    const stored = accountWithStoredGrant('SERVICENOW', serviceNow.settings, grant, egress);
    expect(await faultOf(stored.account.listRoots(null, NEVER))).toMatchObject({ kind: 'access_revoked' });
  });

  test('fails with access_revoked for a token that is invalid in a header', async () => {
    const fault = await faultOf(accountOf({ accessToken: 'a\r\nx-other: 1' }).identify(NEVER));
    expect(fault.kind).toBe('access_revoked');
  });
});

describe('a listing', () => {
  test('contains the standard tables of all pages, and custom tables that extend task', async () => {
    const { ids, pages } = await roots();
    expect(ids.toSorted()).toEqual(['incident', 'kb_knowledge', 'u_drill']);
    expect(pages).toBe(2);
  });

  test('contains the readable standard tables if the account may not list tables', async () => {
    serviceNow.rights.hidesTables = true;
    serviceNow.tables.set('incident', { ...serviceNow.tables.get('incident')!, isClosed: true });
    const { items } = await roots();
    expect(items.map(({ externalId }) => externalId)).toEqual(['kb_knowledge']);
    expect((await descendantsOf('kb_knowledge')).items[0]).toEqual(items[0]);
  });

  test('of a table contains the table exactly as the list of tables does, with its label', async () => {
    const { items } = await roots();
    const alone = items.map(async ({ externalId }) => (await descendantsOf(externalId)).items[0]);
    expect(await Promise.all(alone)).toEqual(items);
    expect(items.map(({ name }) => name)).not.toEqual(items.map(({ externalId }) => externalId));
  });

  test('of a table pages by sys_id, with attachments and without drafts', async () => {
    const plan = attach('incident', 'b', 'plan');
    const { items, pages } = await descendantsOf('incident');
    expect(items.map((item) => [item.externalId, item.parentExternalId, item.itemType])).toEqual([
      ['incident', null, 'TABLE'],
      [idOf('incident', 'a'), 'incident', 'INCIDENT'],
      [idOf('incident', 'b'), 'incident', 'INCIDENT'],
      [plan, idOf('incident', 'b'), 'ATTACHMENT'],
      ...['c', 'd', 'e'].map((name) => [idOf('incident', name), 'incident', 'INCIDENT']),
    ]);
    expect(pages).toBe(3);
    expect((await descendantsOf('kb_knowledge')).ids).toEqual(['kb_knowledge', idOf('kb_knowledge', 'tides')]);
    expect((await descendantsOf(idOf('incident', 'b'))).ids).toEqual([idOf('incident', 'b'), plan]);
    expect((await descendantsOf(plan)).ids).toEqual([plan]);
  });

  test('contains attachments of records whose own table extends the listed one, but no embedded images', async () => {
    // https://github.com/Snow-Shell/servicenow-powershell/pull/189
    const plan = attach('incident', 'b', 'plan');
    const about = { ...serviceNow.attachments.get(sysIdOf('plan'))!, name: 'more.txt' };
    serviceNow.attachments.set(sysIdOf('more'), { ...about, table: 'u_security_incident' });
    serviceNow.attachments.set(sysIdOf('image'), { ...about, table: 'ZZ_YYincident' });
    const more = `${idOf('incident', 'b')}/${sysIdOf('more')}`;
    const found = (await descendantsOf(idOf('incident', 'b'))).ids;
    expect(found.toSorted()).toEqual([idOf('incident', 'b'), plan, more].toSorted());
    expect(await textOf(account, more)).toBe('On plan.');
    expect((await descendantsOf(more)).ids).toEqual([more]);
  });

  test('contains and counts all attachments without the headers Link and X-Total-Count, documented only for tables', async () => {
    serviceNow.rights.countsAttachments = false;
    const all = Array.from({ length: 250 }, (_, index) =>
      attach('incident', 'b', `n${String(index).padStart(3, '0')}`),
    );
    const { ids } = await descendantsOf('incident');
    expect(ids.filter((id) => id.startsWith(`${idOf('incident', 'b')}/`)).toSorted()).toEqual(all.toSorted());
    const start = await account.changes!.now(NEVER);
    expect((await readChanges(start)).changed).toEqual([]);
    serviceNow.attachments.delete(sysIdOf('n100'));
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
  });

  test('continues after pages whose rows are hidden from the account', async () => {
    // Access rules remove rows from a page after it was limited:
    // https://www.servicenow.com/docs/r/api-reference/rest-apis/c_TableAPI.html
    for (const name of ['a', 'b', 'c']) serviceNow.hidden.add(sysIdOf(name));
    expect((await descendantsOf('incident')).ids).toEqual(['incident', idOf('incident', 'd'), idOf('incident', 'e')]);
  });

  test('reports attachments without permission as skipped', async () => {
    serviceNow.injectFault((path) => (path.endsWith('/attachment') ? { status: 403 } : null));
    const page = await account.listDescendants('incident', null, NEVER);
    expect(page.items).toHaveLength(3);
    expect(page.skipped).toMatchObject([{ name: 'Attachments of incident', typeAtSource: 'ATTACHMENT' }]);
  });

  test('gives changed items new versions and leaves out deleted and retired ones', async () => {
    const plan = attach('incident', 'b', 'plan');
    const list = async () =>
      versionsOf([...(await descendantsOf('incident')).items, ...(await descendantsOf('kb_knowledge')).items]);
    const before = await list();
    putRecord('incident', 'a', { sys_mod_count: '1' });
    serviceNow.attachments.get(sysIdOf('plan'))!.content = 'Another plan.';
    rowsOf('incident').delete(sysIdOf('e'));
    putRecord('kb_knowledge', 'tides', { workflow_state: 'retired' });
    const after = await list();
    const deleted = [idOf('incident', 'e'), idOf('kb_knowledge', 'tides')];
    expect(Object.keys(after)).toEqual(Object.keys(before).filter((id) => !deleted.includes(id)));
    expect(Object.keys(after).filter((id) => after[id] !== before[id])).toEqual([idOf('incident', 'a'), plan]);
  });
});

describe('the change feed', () => {
  const now = (): string => timestampOf(Date.now());

  test('reports changed and retired records, and new attachments', async () => {
    const start = await account.changes!.now(NEVER);
    expect((await readChanges(start)).changed).toEqual([]);
    putRecord('incident', 'a', { sys_updated_on: now() });
    putRecord('incident', 'new', { sys_created_on: now(), sys_updated_on: now() });
    putRecord('kb_knowledge', 'tides', { sys_updated_on: now(), workflow_state: 'retired' });
    const plan = attach('incident', 'c', 'plan', now());
    const { changed, deletedPaths } = await readChanges(start);
    expect(changed.toSorted()).toEqual(
      [
        ...[idOf('incident', 'a'), idOf('incident', 'new'), idOf('incident', 'c'), plan],
        `gone ${idOf('kb_knowledge', 'tides')}`,
      ].toSorted(),
    );
    // A sync deletes what is stored below these paths, except the items of the same page.
    expect(deletedPaths).toEqual(expect.arrayContaining(['a', 'new', 'c'].map((name) => idOf('incident', name))));
  });

  test('is stale after a deletion of a record or an attachment, which ServiceNow does not report', async () => {
    attach('incident', 'b', 'plan');
    const start = await account.changes!.now(NEVER);
    serviceNow.attachments.clear();
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
    const another = await account.changes!.now(NEVER);
    rowsOf('incident').delete(sysIdOf('e'));
    expect(await faultOf(readChanges(another))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('content', () => {
  test('of an incident contains its fields, description and comments', async () => {
    putRecord('incident', 'a', { state: 'New', caller_id: 'Ben', comments: 'Ada: seen on Monday.' });
    expect(await account.open(idOf('incident', 'a'), NEVER)).toMatchObject({
      ...{ format: 'SERVICENOW', mimeType: 'text/markdown', name: 'N-a: About a' },
      url: `${serviceNow.origin}/harbour/incident.do?sys_id=${sysIdOf('a')}`,
      fileMetadata: { type: 'INCIDENT', table: 'incident', number: 'N-a' },
    });
    expect((await textOf(account, idOf('incident', 'a'))).split('\n\n')).toEqual([
      ...['# N-a: About a', '- State: New\n- Caller: Ben', '## Description', 'On a.', '## Comments'],
      'Ada: seen on Monday.',
    ]);
  });

  test('of an article is its HTML, also if the account has another language', async () => {
    serviceNow.labels.set('published', 'Veröffentlicht').set('On fields.', 'Von Feldern.');
    expect((await account.open(idOf('kb_knowledge', 'tides'), NEVER)).mimeType).toBe('text/html');
    expect(await textOf(account, idOf('kb_knowledge', 'tides'))).toBe(
      '<h1>N-tides: About tides</h1>\n<p>On <b>tides</b>.</p>\n',
    );
    putRecord('incident', 'a', { description: 'On fields.' });
    expect(await textOf(account, idOf('incident', 'a'))).toContain('Von Feldern.');
  });

  test('of an attachment is its bytes, with its record as metadata', async () => {
    const plan = attach('incident', 'b', 'plan');
    expect(await textOf(account, plan)).toBe('On plan.');
    expect(await account.open(plan, NEVER)).toMatchObject({
      ...{ name: 'plan.txt', mimeType: 'text/plain' },
      fileMetadata: { type: 'ATTACHMENT', attached_to: idOf('incident', 'b') },
    });
  });

  test('is not found for missing, unlisted or wrongly nested items, and unsupported for tables', async () => {
    attach('incident', 'b', 'plan');
    const elsewhere = `${idOf('incident', 'c')}/${sysIdOf('plan')}`;
    const absent = [idOf('incident', 'none'), idOf('kb_knowledge', 'draft'), elsewhere, idOf('sys_script', 'x')];
    const wrong: string[] = [];
    for (const id of [...absent, 'incident/x', 'incident^NQ', '..', 'INCIDENT'])
      for (const call of [() => descendantsOf(id), () => account.open(id, NEVER)])
        if ((await faultOf(call())).kind !== 'not_found') wrong.push(id);
    expect(wrong).toEqual([]);
    expect(await faultOf(descendantsOf('u_none'))).toMatchObject({ kind: 'not_found' });
    expect(await faultOf(account.open('incident', NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(serviceNow, call);

  test('never counts as the end of a list', async () => {
    attach('incident', 'b', 'plan');
    expect(await broken(async () => (await roots()).ids)).toEqual([]);
    expect(await broken(async () => (await descendantsOf('incident')).items)).toEqual([]);
    expect(await broken(async () => (await descendantsOf(idOf('incident', 'b'))).items)).toEqual([]);
  });

  test('never counts as the end of the change feed', async () => {
    for (const name of ['u_drill', 'kb_knowledge']) serviceNow.tables.delete(name);
    const start = await account.changes!.now(NEVER);
    for (const name of ['a', 'b', 'c']) putRecord('incident', name, { sys_updated_on: timestampOf(Date.now()) });
    expect(await broken(async () => (await readChanges(start)).changed)).toEqual([]);
  });

  test('never replaces content, and neither does the page of a hibernating instance', async () => {
    const plan = attach('incident', 'b', 'plan');
    expect(await broken(() => account.open(idOf('incident', 'a'), NEVER))).toEqual([]);
    serviceNow.injectFault(() => HIBERNATING);
    const kinds = [];
    for (const id of [idOf('incident', 'a'), plan]) kinds.push((await faultOf(account.open(id, NEVER))).kind);
    expect(kinds).toEqual(['server_error', 'server_error']);
  });
});

describe('the rate limit', () => {
  // Retry-After in seconds, and X-RateLimit-Reset in Unix seconds:
  // https://www.servicenow.com/docs/r/api-reference/rest-api-explorer/inbound-REST-API-rate-limiting.html
  const limited = (headers: Record<string, string>) => () => ({ status: 429, headers });
  const at = (inS: number): string => String(Math.floor(Date.now() / 1000) + inS);

  test('delays the retry by Retry-After, else until X-RateLimit-Reset', async () => {
    serviceNow.injectFault(nextRequests(1, limited({ 'retry-after': '0', 'x-ratelimit-reset': at(3_000) })));
    expect((await roots()).ids).toHaveLength(3);
    serviceNow.injectFault(nextRequests(1, limited({ 'x-ratelimit-reset': at(0) })));
    expect((await roots()).ids).toHaveLength(3);
  });

  test('throws a Fault with the remaining time if that is longer than the maximum wait', async () => {
    serviceNow.injectFault(nextRequests(1, limited({ 'x-ratelimit-reset': at(600) })));
    const fault = await faultOf(accountOf({}, 100).listRoots(null, NEVER));
    expect(fault.kind).toBe('rate_limited');
    expect(fault.retryAfterMs).toBeGreaterThan(500_000);
    expect(fault.retryAfterMs).toBeLessThanOrEqual(600_000);
  });
});
