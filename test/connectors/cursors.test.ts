/** Damaged cursors, and cursors of older versions of the service, for every connected source. */
import { expect, test } from '@jest/globals';

import { nextPage } from '../../activities/connected/walk.js';
import { CONNECTORS } from '../../connectors/catalogue.js';
import { openCursor, sealCursor } from '../../connectors/cursors.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import { WALK_ALL, walkOf } from '../../contract/accounts/connections.js';
import { Fault } from '../../contract/failures.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { NEVER, URL_PARAMETERS } from './account.js';

const SOURCES = Object.keys(CONNECTORS) as ConnectedSourceType[];
/** Feeds whose change token is an opaque text of the source, which the service cannot validate. */
const OPAQUE_TOKENS: readonly ConnectedSourceType[] = ['DROPBOX'];
const OLDER_VERSION = '{"version":0}';
const VALID = sealCursor('{"open":["a"],"at":null}');
const DAMAGED = [
  '',
  'x',
  'damaged',
  '{"open":["a"],"at":null}',
  OLDER_VERSION,
  VALID.slice(0, -1),
  VALID.replace('a', 'b'),
];

const KEYS = { domain: 'a', apiKey: 'k', accountName: 'account', accountKey: 'a2V5' };
const CREDENTIALS = JSON.stringify({ accessToken: 't', facts: URL_PARAMETERS, ...KEYS });

/** Returns an account that counts its requests and rejects each. */
function rejectingAccount(source: ConnectedSourceType) {
  let requests = 0;
  const egress = {
    request: () => {
      requests += 1;
      return Promise.reject(
        new Error(
          'A damaged cursor must not reach the source. Declare the fields of the cursor, with withCursor or changeFeed.',
        ),
      );
    },
  };
  const connectors = createConnectors({ egress, urls: readSourceUrls(''), maxItemBytes: 1_000 });
  return { account: connectors.account(source, '1', CREDENTIALS), requests: () => requests };
}

test('restarts the list after a damaged cursor, and reports a damaged change token as stale, for every source', () =>
  everyRow(SOURCES, String, async (source) => {
    const { account, requests } = rejectingAccount(source);
    for (const cursor of DAMAGED) {
      const item = await nextPage(account, { ...walkOf(['a', 'b']), at: cursor }, NEVER);
      expect(item).toMatchObject({ items: [], missing: [], refused: [], walk: { open: ['a', 'b'], at: null } });
      const roots = await nextPage(account, { ...WALK_ALL, roots: { next: cursor } }, NEVER);
      expect(roots).toMatchObject({ items: [], missing: [], refused: [], walk: { open: [], roots: { next: null } } });
      if (account.changes) expect((await faultOf(account.changes.since(cursor, NEVER))).kind).toBe('stale_cursor');
    }
    expect(requests()).toBe(0);
  }));

test('reports a change token of an older version as stale for every feed that can validate its tokens', () =>
  everyRow(
    SOURCES.filter((source) => CONNECTORS[source].changes && !OPAQUE_TOKENS.includes(source)),
    String,
    async (source) => {
      const { account, requests } = rejectingAccount(source);
      for (const token of [OLDER_VERSION, 'x', '[]', 'null', '"text"'])
        expect((await faultOf(account.changes!.since(sealCursor(token), NEVER))).kind).toBe('stale_cursor');
      expect(requests()).toBe(0);
    },
  ));

test('fails a list whose cursor is stale after three restarts, instead of reading it as empty', async () => {
  const { account } = rejectingAccount('GITBOOK');
  let walk = { ...walkOf(['a']), at: 'damaged' };
  for (let restarts = 1; restarts <= 3; restarts += 1) {
    const step = await nextPage(account, walk, NEVER);
    expect(step.walk.restarts).toBe(restarts);
    walk = { ...step.walk, at: 'damaged' };
  }
  expect((await faultOf(nextPage(account, walk, NEVER))).kind).toBe('stale_cursor');
});

/** Cursors as version 0.2.0 stored them, with the item they list. They stay in the database during an upgrade. */
const STORED: Partial<Record<ConnectedSourceType, readonly [externalId: string, cursor: string]>> = {
  INTERCOM: ['tickets', '{"at":null,"isEnd":false,"rest":["1"]}'],
  ZOTERO: ['users/1', '{"open":[""],"start":0,"version":3,"restarts":0}'],
  GONG: ['workspace:1', '{"workspace":"1","calls":null,"folders":["2"],"isAgain":true}'],
  ZENDESK: ['a/tickets', '{"from":"export","at":"x","begun":1,"rest":[]}'],
  FRESHDESK: ['a/category:1', '{"open":["2"],"page":2}'],
  GURU: ['collection:1', '{"root":"collection:1","open":[{"folder":"a","owner":"folder:a"}],"at":null,"rest":"1"}'],
  GITHUB: ['o/n', '{"repository":"o/n","url":"https://github.com/o/n","branch":"main","open":[["","a"]]}'],
  SHAREPOINT: ['pages', '{"$skiptoken":"x"}'],
  ONEDRIVE: ['a', '{"drive":"a","rootId":null,"feed":null,"open":[["a","b"]],"at":null,"restarts":0}'],
  OUTLOOK: ['folder:a', '{"open":[["a","a"]],"at":null,"restarts":0}'],
  GOOGLE_DRIVE: ['a', '{"root":"a","driveId":null,"open":["a"],"group":1,"below":[],"level":0,"token":null}'],
  GOOGLE_CLOUD_STORAGE: ['bucket', '{"token":"t","after":"a"}'],
  CONFLUENCE: ['space:1', '{"part":"pages","at":null,"folders":[]}'],
  SALESFORCE: ['folder:069000000000001AAA', '{"root":null,"open":[["069000000000001AAA","a"]],"after":""}'],
  AZURE_BLOB_STORAGE: ['container', '{"marker":"m","after":"a"}'],
  SERVICENOW: ['incident', '{"id":"a","passed":0}'],
  SLACK: ['C0123456789', '{"at":"x","latest":"1.000000","open":null}'],
  BOX: ['folder:1', '{"root":"folder:1","open":[["folder:1",0]],"at":null}'],
};

test('continues a list from a cursor that version 0.2.0 stored', () =>
  everyRow(Object.entries(STORED), String, async ([source, [externalId, cursor]]) => {
    const { account, requests } = rejectingAccount(source as ConnectedSourceType);
    const fault = account.listDescendants(externalId, sealCursor(cursor), NEVER).then(
      () => null,
      (error: unknown) => (error instanceof Fault ? error.kind : String(error)),
    );
    expect(await fault).not.toBe('stale_cursor');
    expect(requests()).toBeGreaterThan(0);
  }));

test('openCursor reverses sealCursor for any text', () => {
  for (const text of ['', 'a', OLDER_VERSION, 'ü\u{1F600}']) expect(openCursor(sealCursor(text))).toBe(text);
});
