import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import type { Egress } from '../../egress/types.js';
import { CUSTOMER, type GongEmulator, startGong } from '../emulators/gong.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { answerConsent } from '../support/consent.js';
import { grantedAccount, readListing, loopbackEgress, NEVER, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let gong: GongEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  gong = await startGong();
});
afterAll(async () => {
  await egress.close();
  await gong.close();
});
beforeEach(() => {
  for (const map of [gong.workspaces, gong.folders, gong.calls]) map.clear();
  gong.reset();
  account = grantedAccount('GONG', gong.settings, gong.oauth.grant().accessToken, egress);
});

/** Creates two workspaces, a library of nested folders, and calls inside and outside of them. */
function fill(): void {
  const { workspaces, folders, calls } = gong;
  workspaces.set('1', 'Sales').set('2', 'Support');
  folders.set('5', { name: 'Best', workspace: '1', calls: ['100'] });
  folders.set('6', { name: 'Closing', workspace: '1', parent: '5', calls: ['101', '999'] });
  for (const [id, title] of [
    ['100', 'Intro'],
    ['101', 'Deal'],
    ['102', 'Other'],
    ['103', 'More'],
  ] as const)
    calls.set(id, { title, workspace: '1', monologues: [{ speaker: '1', text: `On ${title}.` }] });
}
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));

describe('listing', () => {
  test('lists workspaces as roots', async () => {
    fill();
    const { items, next } = await account.listRoots(null, NEVER);
    expect(next).toBeNull();
    expect(items).toMatchObject([
      { externalId: 'workspace:1', name: 'Sales', itemType: 'WORKSPACE', parentExternalId: null, isExpandable: true },
      { externalId: 'workspace:2', name: 'Support' },
    ]);
  });

  test('lists each call once, below its library folder or else below its workspace', async () => {
    fill();
    const { items, pages } = await descendantsOf('workspace:1');
    expect(pages).toBeGreaterThan(4);
    // A call may be listed twice: the later entry has the final parent.
    const places = new Map(items.map((item) => [item.externalId, [item.itemType, item.parentExternalId]]));
    expect([...places]).toEqual([
      ['workspace:1', ['WORKSPACE', null]],
      ['100', ['CALL', 'folder:5']],
      ['101', ['CALL', 'folder:6']],
      ['102', ['CALL', 'workspace:1']],
      ['103', ['CALL', 'workspace:1']],
      ['folder:5', ['FOLDER', 'workspace:1']],
      ['folder:6', ['FOLDER', 'folder:5']],
    ]);
    const files = items.filter(({ hasContent }) => hasContent).map(({ externalId }) => externalId);
    expect(files).toEqual(['100', '101', '102', '103']);
    expect(items[1]).toMatchObject({
      ...{ name: 'Intro', externalUrl: 'https://app.gong.io/call?id=100', rootExternalId: 'workspace:1' },
      ...{ createdAt: '2026-03-03T10:00:00.000Z', version: expect.stringMatching(/^[\w-]{22}$/) },
    });
  });

  test('gives an old call the same version in every listing, and a recent one none', async () => {
    fill();
    const old = new Date(Date.now() - 15 * 86_400_000).toISOString();
    const recent = new Date(Date.now() - 13 * 86_400_000).toISOString();
    gong.calls.set('100', { ...gong.calls.get('100')!, started: old });
    gong.calls.set('101', { ...gong.calls.get('101')!, started: recent });
    const first = versionsOf((await descendantsOf('workspace:1')).items);
    expect(first['100']).not.toBeNull();
    expect(first['101']).toBeNull();
    // The folder lists the details of calls, the workspace their summaries.
    expect(versionsOf((await descendantsOf('folder:5')).items)['100']).toBe(first['100']);
    gong.calls.set('100', { ...gong.calls.get('100')!, title: 'Introduction' });
    expect(versionsOf((await descendantsOf('workspace:1')).items)['100']).not.toBe(first['100']);
  });

  test.each([400, 404, 410])(
    'reports a cursor that Gong refuses with %d as stale, so that the listing restarts instead of ending',
    async (status) => {
      fill();
      const { next } = await account.listDescendants('workspace:1', null, NEVER);
      const second = await account.listDescendants('workspace:1', next, NEVER);
      gong.injectFault((path) => (path.includes('cursor=') ? { status } : null));
      const fault = await faultOf(account.listDescendants('workspace:1', second.next, NEVER));
      expect(fault).toMatchObject({ kind: 'stale_cursor' });
    },
  );

  test('lists a workspace without calls, although Gong answers 404', async () => {
    fill();
    expect((await descendantsOf('workspace:2')).ids).toEqual(['workspace:2']);
  });

  test('lists a folder with the calls of its subfolders, and a call alone', async () => {
    fill();
    const { items, ids } = await descendantsOf('folder:5');
    expect(ids).toEqual(['folder:5', 'folder:6', '100', '101']);
    expect(items.filter(({ hasContent }) => hasContent)).toHaveLength(2);
    expect((await descendantsOf('folder:6')).ids).toEqual(['folder:6', '101']);
    expect((await descendantsOf('102')).ids).toEqual(['102']);
  });

  test('lists each call of a folder with many calls', async () => {
    fill();
    const many = Array.from({ length: 230 }, (_, nth) => String(1_000 + nth));
    for (const id of many)
      gong.calls.set(id, { title: `Call ${id}`, workspace: '1', monologues: [{ speaker: '1', text: 'Hello.' }] });
    gong.folders.set('6', { name: 'Closing', workspace: '1', parent: '5', calls: many });
    expect((await descendantsOf('folder:6')).ids).toEqual(['folder:6', ...many]);
  });

  test.each([401, 403])('lists calls without folders if the library is refused with %d', async (status) => {
    fill();
    gong.injectFault((path) => (path.startsWith('library/') ? { status } : null));
    expect((await descendantsOf('workspace:1')).ids).toEqual(['workspace:1', '100', '101', '102', '103']);
  });

  test('reports revoked access for a token that expires before the folders are listed', async () => {
    fill();
    let isOver = false;
    gong.injectFault((path) => {
      isOver ||= path.startsWith('library/');
      return isOver ? { status: 401 } : null;
    });
    expect(await faultOf(descendantsOf('workspace:1'))).toMatchObject({ kind: 'access_revoked' });
  });

  test('names the workspace in each request for folders, which Gong refuses with 400 otherwise', async () => {
    fill();
    await descendantsOf('folder:6');
    const folderRequests = gong.requests.filter((path) => path.startsWith('library/folders'));
    expect(folderRequests.map((path) => path.trim())).toEqual(['library/folders?workspaceId=1']);
  });

  test('stops at folders that contain each other', async () => {
    fill();
    gong.folders.set('5', { name: 'Best', workspace: '1', parent: '6', calls: ['100'] });
    expect((await descendantsOf('folder:5')).ids.toSorted()).toEqual(['100', '101', 'folder:5', 'folder:6']);
  });

  test.each(['nothing', '..', 'call:1', 'workspace:9', 'folder:9', '999', '1'.repeat(21), 'workspace:'])(
    'rejects %s as not found',
    async (id) => {
      fill();
      expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
    },
  );
});

describe('content', () => {
  const opened = async (id: string) => {
    const content = await account.open(id, NEVER);
    return { ...content, text: Buffer.from(content.bytes).toString() };
  };

  test('is the transcript with speakers, times and participants', async () => {
    fill();
    gong.calls.set('100', {
      title: 'Intro',
      workspace: '1',
      parties: [
        { name: 'Ada Lovelace', title: 'Captain', emailAddress: 'ada@harbour.example', affiliation: 'Internal' },
        { emailAddress: 'ben@sea.example', affiliation: 'External' },
      ],
      monologues: [
        { speaker: '1', text: 'The lighthouse is lit. It shines.', topic: 'Small talk', atMs: 5_000 },
        { speaker: '2', text: 'Since when?', atMs: 3_725_000 },
        { speaker: '8', text: 'Long ago.', atMs: 3_726_000 },
        { speaker: '9', text: 'Very.', atMs: 3_727_000 },
        { speaker: '8', text: 'Yes.', atMs: 3_728_000 },
        { speaker: '1', text: '' },
      ],
    });
    expect(await opened('100')).toMatchObject({
      text: [
        'Intro',
        'Participants: Ada Lovelace (Captain, Internal); ben@sea.example (External)',
        'Ada Lovelace, 0:05 [Small talk]: The lighthouse is lit. It shines.',
        'ben@sea.example, 1:02:05: Since when?',
        'Speaker 1, 1:02:06: Long ago.',
        'Speaker 2, 1:02:07: Very.',
        'Speaker 1, 1:02:08: Yes.',
      ].join('\n\n'),
      ...{ format: 'GONG', name: 'Intro', url: 'https://app.gong.io/call?id=100' },
      fileMetadata: {
        ...{ type: 'CALL', call_id: '100', workspace_id: '1', duration_seconds: 61, language: 'eng' },
        participants: [
          { name: 'Ada Lovelace', email: 'ada@harbour.example', affiliation: 'Internal' },
          { email: 'ben@sea.example', affiliation: 'External' },
        ],
      },
    });
  });

  test.each([
    ['100', 'no_text', /no transcript of this call/],
    ['workspace:1', 'unsupported_type', /sync the calls in it/],
    ['999', 'not_found', /no such item/],
  ] as const)('is unavailable for %s: %s', async (id, kind, message) => {
    fill();
    gong.calls.set('100', { title: 'Intro', workspace: '1' });
    const fault = await faultOf(account.open(id, NEVER));
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(message);
  });
});

describe('calls that are opened at the same time', () => {
  const openAll = (...ids: string[]) => Promise.allSettled(ids.map((id) => account.open(id, NEVER)));
  const beginningsOf = (path: string) =>
    gong.requests.filter((request) => request.startsWith(`${path} `) && !request.includes('"cursor"'));

  test('share their requests, so that the daily quota suffices for a first sync', async () => {
    fill();
    const results = await openAll('100', '101', '102', '103');
    const texts = results.map((result) =>
      result.status === 'fulfilled' ? Buffer.from(result.value.bytes).toString() : String(result.reason),
    );
    for (const [index, title] of ['Intro', 'Deal', 'Other', 'More'].entries())
      expect(texts[index]).toContain(`On ${title}.`);
    expect(beginningsOf('calls/extensive')).toHaveLength(1);
    expect(beginningsOf('calls/transcript')).toHaveLength(1);
    // Calls and transcripts are not cached: the transcript of a recent call may change.
    await account.open('100', NEVER);
    expect(beginningsOf('calls/transcript')).toHaveLength(2);
  });

  test('are read one by one if Gong refuses their common request', async () => {
    fill();
    gong.injectFault((request) =>
      request.startsWith('calls/transcript ') && request.includes('"101"') ? { status: 500 } : null,
    );
    const results = await openAll('100', '101', '102');
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('are still read for the other callers if the caller of the first call aborts', async () => {
    fill();
    const abort = new AbortController();
    const first = account.open('100', abort.signal);
    const other = account.open('101', NEVER);
    gong.injectFault((request) => {
      if (request.includes('"100"')) abort.abort(new Error('stopped'));
      return null;
    });
    await expect(first).rejects.toThrow('stopped');
    expect((await other).name).toBe('Deal');
  });

  test('do not hide that one of them is missing', async () => {
    fill();
    const [existing, missing] = await openAll('100', '555');
    expect(existing!.status).toBe('fulfilled');
    expect((missing as PromiseRejectedResult).reason).toMatchObject({ kind: 'not_found' });
  });
});

describe('the API host of the company', () => {
  const grantFor = async (facts: Record<string, unknown>) => {
    const provider = await startGong({ facts: () => facts });
    const connectors = createConnectors({ egress, urls: readSourceUrls(provider.settings), maxItemBytes: 1_000 });
    const consent = connectors.consent('GONG')!;
    const request = { redirectUri: 'https://here.example/integrations/gong', state: 's', verifier: 'v'.repeat(43) };
    const url = consent.url({}, { ...request, clientId: CLIENT_ID, scopes: consent.spec.scopes });
    const code = new URL(await answerConsent(url)).searchParams.get('code') ?? '';
    const client = { id: CLIENT_ID, secret: CLIENT_SECRET };
    try {
      return await consent.exchange({ ...request, client, code, facts: { email: 'a@b' }, keepsClient: false });
    } finally {
      await provider.close();
    }
  };

  test('is read from the token response and stored with the parameters of the caller', async () => {
    const grant = await grantFor({ api_base_url_for_customer: `https://${CUSTOMER}.gong.io` });
    expect(grant.facts).toEqual({ email: 'a@b', customer: CUSTOMER });
    expect((await grantFor({})).facts).toEqual({ email: 'a@b' });
  });

  test.each([
    'https://evil.example',
    'https://gong.io.evil.example',
    'http://us-1.api.gong.io',
    'https://a@b.gong.io/',
    'https://x/.gong.io',
  ])('is rejected if its address is not https://<name>.gong.io: %s', async (address) => {
    expect(await faultOf(grantFor({ api_base_url_for_customer: address }))).toMatchObject({ kind: 'bad_response' });
  });
});

test.each([
  [401, 'access_revoked'],
  [403, 'access_denied'],
  [500, 'server_error'],
] as const)('reports HTTP %d as %s', async (status, kind) => {
  fill();
  gong.injectFault(() => ({ status }));
  expect(await faultOf(account.listDescendants('100', null, NEVER))).toMatchObject({ kind });
  expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind });
});

test('never treats a broken response as the end of a list', async () => {
  fill();
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    (await descendantsOf('workspace:1')).items,
  ];
  expect(await acceptedBrokenAnswers(gong, list)).toEqual([]);
});
