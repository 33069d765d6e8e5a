import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator, startS3Source } from '../../../emulators/s3Source.js';
import { startSite } from '../../../emulators/site.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { waitFor } from '../../../support/waitFor.js';
import { fixtureForS3 } from '../../../support/sourceFixtures/s3.js';
import type { SourceFixture } from '../../../support/sourceFixtures/fixture.js';
import { type Catalogue, MAX_BYTES } from '../../../support/sourceFixtures/catalogue.js';

export function defineS3Tests(catalogue: Catalogue): void {
  describe('the operations of S3', () => {
    let user: TestUser;
    let s3: S3SourceEmulator;
    let store: SourceFixture;
    let customers = 0;

    // A second store, which is not in the settings: requests name it by endpoint_url.
    beforeAll(async () => {
      s3 = await startS3Source();
      store = fixtureForS3(s3);
    });
    afterAll(() => s3.close());
    beforeEach(async () => {
      store.reset();
      customers += 1;
      user = await catalogue.service.user(`s3 ${customers}`);
    });

    const connect = (body: Record<string, unknown> = {}) =>
      store.connect(user, { endpoint_url: `http://${s3.host}/`, sync_source_items: false, ...body });
    const sync = (ids: readonly Record<string, unknown>[], body: Record<string, unknown> = {}) =>
      user.post<{ success?: true; detail?: unknown }>('/integrations/s3/files', { ids, ...body });
    /** Waits until the user has this number of files, all READY or SYNC_ERROR. Returns them by external id. */
    const settledFiles = async (number: number): Promise<Map<string, FileRecord>> => {
      const { results } = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body,
        ({ results: records }) =>
          records.length === number && records.every((file) => /^(READY|SYNC_ERROR)$/.test(file.sync_status)),
      );
      return new Map(results.map((file) => [file.external_file_id, file]));
    };

    test('keep files and attachments of two stores with equal bucket names apart', async () => {
      const other = catalogue.fixtures.S3;
      const mail = (text: string) =>
        [
          'Subject: Pier',
          'Content-Type: multipart/mixed; boundary=b',
          ...['', '--b', '', `On the pier of ${text}.`],
          ...['--b', 'Content-Type: text/plain', 'Content-Disposition: attachment; filename=plan.txt', ''],
          ...[`The plan of ${text}.`, '--b--', ''],
        ].join('\r\n');
      const key = 'atlas/sights/pier.eml';
      other.reset();
      for (const [fixture, name] of [
        [store, 'here'],
        [other, 'there'],
      ] as const)
        fixture.write(key, mail(name));
      expect((await connect()).status).toBe(200);
      expect((await other.connect(user, { sync_source_items: false })).status).toBe(200);
      const sources = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', { order_by: 'created_at' })).body
        .results;
      for (const { id } of sources)
        expect((await sync([{ id: 'sights/pier.eml', bucket: 'atlas' }], { data_source_id: id })).status).toBe(200);
      const syncedFiles = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
        (records) => records.length === 4 && records.every((file) => file.sync_status === 'READY'),
      );
      const mails = syncedFiles.filter((file) => file.external_file_id === key);
      expect(new Set(mails.map((file) => file.organization_user_data_source_id))).toEqual(
        new Set(sources.map(({ id }) => id)),
      );
      expect(mails).toHaveLength(2);
      for (const { id, organization_user_data_source_id: sourceId } of mails) {
        const name =
          sourceId === sources.find((one) => one.data_source_external_id?.endsWith(s3.host))?.id ? 'here' : 'there';
        const ids = [id, ...syncedFiles.filter((file) => file.parent_id === id).map((file) => file.id)];
        const { results } = await user.chunks({ ids });
        expect(results.map((chunk) => chunk.source_content).join(' ')).toMatch(
          new RegExp(`of ${name}.*plan of ${name}`, 's'),
        );
      }
    });

    test('call the store of endpoint_url, and return the record without credentials', async () => {
      const { status, body } = await connect({ data_source_tags: { region: 'north' } });
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          data_source_external_id: `S3|${ACCESS_KEY}|${s3.host}`,
          data_source_type: 'S3',
          sync_status: 'READY',
          last_sync_action: 'ADD',
          revoked_access: false,
          tags: { region: 'north' },
          data_source_metadata: { endpoint_url: `http://${s3.host}` },
        },
      });
      expect(Object.keys(body as object)).toHaveLength(20);
      expect(JSON.stringify(body)).not.toContain(ACCESS_KEY_SECRET);
      expect(s3.requests.length).toBeGreaterThan(0);
    });

    test.each([
      ['a metadata address', 'http://169.254.169.254'],
      ['a private address', 'http://10.0.0.1:9000'],
      ['another scheme', 'ftp://store.example'],
      ['credentials', 'http://key:secret@127.0.0.1'],
      ['a query', 'http://127.0.0.1/?bucket=a'],
      ['a name that does not resolve', 'http://store.invalid'],
      ['text that is not a URL', 'store'],
    ])('refuse an endpoint_url with %s with 422', async (_name, endpoint) => {
      const { status, body } = await connect({ endpoint_url: endpoint });
      expect({ status, body }).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'endpoint_url'], msg: expect.any(String) }] },
      });
      expect(s3.requests).toEqual([]);
    });

    test('refuse an endpoint_url without an S3 store', async () => {
      const site = await startSite({ '/': '<!doctype html><title>A site</title><p>Words.' });
      const { status, body } = await connect({ endpoint_url: site.origin });
      expect([400, 503]).toContain(status);
      expect(body).toEqual({ detail: expect.any(String) });
      await site.close();
    });

    test('refuse a wrong secret, and a key with characters that headers do not allow, with 400', async () => {
      for (const wrong of [{ access_key_secret: 'another' }, { access_key: 'AK\r\nx-other: 1' }])
        expect(await connect(wrong)).toMatchObject({
          status: 400,
          body: { detail: expect.stringMatching(/credentials/) },
        });
    });

    test('connect a key without the right to list buckets, and sync buckets by name', async () => {
      s3.injectFault((path) => (path === '' ? { status: 403, code: 'AccessDenied' } : null));
      const { status, body } = await connect({ sync_source_items: true });
      expect(status).toBe(200);
      expect((await sync([{ bucket: 'boats' }])).status).toBe(200);
      expect((await settledFiles(1)).get('boats/boats-1.md')?.sync_status).toBe('READY');
      const [source] = (
        await waitFor(
          async () => (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body,
          ({ results }) => results[0]?.sync_status === 'SYNC_ERROR',
        )
      ).results;
      expect(source).toMatchObject({ id: (body as DataSourceRecord).id, revoked_access: false });
      expect(source?.data_source_metadata['items_error']).toMatch(/does not let the connected account see/);
    });

    test('sync objects, prefixes and buckets, and items by their id', async () => {
      await connect();
      for (const name of ['2025-a', '2025-b', '2026-a'])
        s3.buckets.get('docks')?.set(`logs/${name}.txt`, { content: name });
      const ids = [
        { bucket: 'atlas', id: 'sights/lighthouse.md' },
        { bucket: 'docks', prefix: 'logs/2025' },
        { bucket: 'boats', prefix: '', id: null },
        { id: 'crews/crews-1.md' },
        { bucket: 'eels', prefix: 'none/' },
        { bucket: 'eels', prefix: 'eels-0' },
      ];
      const options = { chunk_size: 90, chunk_overlap: 5, tags: { a: 'b' }, request_id: 'picked' };
      expect(await sync(ids, options)).toMatchObject({ status: 200, body: { success: true } });
      const files = await settledFiles(7);
      const ready = [...files].filter(([, file]) => file.sync_status === 'READY').map(([id]) => id);
      expect(ready.toSorted()).toEqual([
        'atlas/sights/lighthouse.md',
        'boats/boats-1.md',
        'crews/crews-1.md',
        'docks/logs/2025-a.txt',
        'docks/logs/2025-b.txt',
      ]);
      for (const id of ['eels/none/', '/eels/eels-0'])
        expect(files.get(id)).toMatchObject({ sync_status: 'SYNC_ERROR', sync_error_message: expect.any(String) });
      expect(files.get('atlas/sights/lighthouse.md')).toMatchObject({
        name: 'lighthouse.md',
        external_url: 's3://atlas/sights/lighthouse.md',
        chunk_size: 90,
        tags: { a: 'b' },
        request_id: 'picked',
        file_metadata: { type: 'FILE', bucket: 'atlas' },
      });
    });

    test('read keys with any characters, also in a bucket of another region; a key that a URL cannot contain becomes SYNC_ERROR with the reason', async () => {
      const keys = ['a b+c.md', 'ümläut/日本.md', `it's (1) & "2" <3>.md`, '100%/#1?.md', 'twice//slashed.md', '!*.md'];
      const objects = new Map([...keys, 'up/../away.md'].map((key) => [key, { content: `Of ${key}` }] as const));
      s3.buckets.set('odd.keys', objects);
      s3.regions.set('odd.keys', 'eu-north-1');
      await connect();
      await sync([{ bucket: 'odd.keys' }]);
      const files = await settledFiles(keys.length + 1);
      for (const key of keys) {
        expect({ key, status: files.get(`odd.keys/${key}`)?.sync_status }).toEqual({ key, status: 'READY' });
        const { results } = await user.chunks({ external_file_ids: [`odd.keys/${key}`] });
        expect(results.map((chunk) => chunk.source_content).join('')).toContain(key.slice(-5, -3));
      }
      expect(files.get('odd.keys/up/../away.md')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/cannot be requested/),
      });
    });

    test('apply the options of a connection to objects synced later', async () => {
      const authentication = {
        source: 'S3',
        access_key: ACCESS_KEY,
        access_key_secret: ACCESS_KEY_SECRET,
        endpoint_url: `http://${s3.host}`,
      };
      const expected = { chunk_size: 99, tags: { asked: 'red' }, request_id: 'asked' };
      const config = { split_rows: true, skip_file_processing: true };
      const options = { sync_source_items: false, ...expected, file_sync_config: config };
      const body = { authentication, sync_options: options };
      expect(await user.post('/integrations/connect', body)).toMatchObject({ status: 200, body: { sync_url: null } });
      expect((await sync([{ bucket: 'boats' }])).status).toBe(200);
      const [file] = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
        ([one]) => one?.sync_status === 'READY_TO_SYNC',
      );
      expect(file).toMatchObject({ ...expected, sync_properties: config });
      const forbiddenEndpoint = { ...authentication, endpoint_url: 'http://169.254.169.254' };
      expect(await user.post('/integrations/connect', { authentication: forbiddenEndpoint })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'authentication', 'endpoint_url'] }] },
      });
    });

    test('report an object above the size limit as SYNC_ERROR with the reason', async () => {
      s3.buckets.get('boats')?.set('large.txt', { content: Buffer.alloc(MAX_BYTES + 1, 'a'), type: 'text/plain' });
      await connect();
      await sync([{ bucket: 'boats' }]);
      const files = await settledFiles(2);
      expect(files.get('boats/boats-1.md')?.sync_status).toBe('READY');
      expect(files.get('boats/large.txt')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/larger than the 300,000 bytes/),
      });
    });

    test('require a data_source_id if the user has several connections', async () => {
      expect(await sync([{ bucket: 'boats' }])).toMatchObject({ status: 404 });
      const { id } = (await connect()).body as DataSourceRecord;
      expect((await sync([{ bucket: 'boats' }], { data_source_id: null })).status).toBe(200);
      s3.keys.set('AKIAOTHER', ACCESS_KEY_SECRET);
      expect((await connect({ access_key: 'AKIAOTHER' })).status).toBe(200);
      expect(await sync([{ bucket: 'boats' }])).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/data_source_id/) },
      });
      expect((await sync([{ bucket: 'boats' }], { data_source_id: id })).status).toBe(200);
      expect(await sync([{ bucket: 'boats' }], { data_source_id: 2 ** 40 })).toMatchObject({ status: 404 });
    });

    test.each([
      ['nothing', {}],
      ['only a prefix', { prefix: 'logs/' }],
      ['an id and a prefix', { id: 'a', prefix: 'logs/' }],
    ])('refuse a selection of %s with 422', async (_name, chosen) => {
      expect(await sync([{ bucket: 'boats' }, chosen])).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'ids', 1] }] },
      });
    });
  });
}
