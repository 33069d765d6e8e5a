import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { readStoredState } from '../../support/storedState.js';
import { apiClient, type TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ CONTENT_ROW_BYTES: '2000' });
  user = await service.user('att');
});
afterAll(async () => {
  await service.close();
});

interface Part {
  readonly name: string;
  readonly type: string;
  readonly content: string | Buffer;
}

/** Returns the source text of an email message with attachments. */
function message(subject: string, parts: readonly Part[]): string {
  const head = `From: Ada <ada@example.com>\r\nTo: bob@example.com\r\nSubject: ${subject}\r\nDate: Mon, 2 Mar 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n`;
  const body = parts.map(
    ({ name, type, content }) =>
      `--part\r\nContent-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n`,
  );
  return `${head}Content-Type: multipart/mixed; boundary="part"\r\n\r\n--part\r\nContent-Type: text/plain\r\n\r\nWords of ${subject}.\r\n${body.join('')}--part--\r\n`;
}

const NOTES: Part = { name: 'notes.md', type: 'text/markdown', content: '# Notes\n\nOtters juggle pebbles.' };
const TABLE: Part = {
  name: 'table.csv',
  type: 'application/octet-stream',
  content: 'a,b,c\n1,2,3\n4,5,6\n'.repeat(200),
};
const ARCHIVE: Part = {
  name: 'things.zip',
  type: 'application/zip',
  content: Buffer.from('PK\u0003\u0004\u0000\u0000things.bin'),
};
const send = (content: string) => user.send({ name: 'mail.eml', content }, { skip_embedding_generation: true });
const children = async (file: FileRecord) =>
  Promise.all((await user.children(file.id)).map((child) => user.settled(child.id)));

test('stores attachments as child files of the same upload and reads them like any other file', async () => {
  const file = await user.settled((await send(message('lunch', [NOTES, TABLE, ARCHIVE]))).id);
  expect(file).toMatchObject({
    sync_status: 'READY',
    source: 'EML',
    source_created_at: '2026-03-02T10:00:00.000Z',
    file_metadata: {
      attachments_skipped: [{ name: 'things.zip', reason: expect.stringContaining('ZIP') }],
    },
  });
  const found = await children(file);
  expect(
    found.map(({ name, source, sync_status, parent_id, upload_id, request_id }) => ({
      name,
      source,
      sync_status,
      parent_id,
      upload_id,
      request_id,
    })),
  ).toEqual(
    (['notes.md:MD', 'table.csv:CSV'] as const).map((one) => {
      const [name, source] = one.split(':');
      const { upload_id, request_id } = file;
      return { name, source, sync_status: 'READY', parent_id: file.id, upload_id, request_id };
    }),
  );
  expect((await user.chunks({ ids: [found[0]!.id] })).results[0]?.source_content).toContain('Otters juggle');
  const { body } = await user.get<{ presigned_url: string }>(`/raw_file/${found[1]!.id}`);
  expect(await (await fetch(body.presigned_url)).text()).toBe(TABLE.content);

  // A resync keeps the same child files.
  await user.post('/resync_file', { file_id: file.id, chunk_size: 30 });
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', chunk_size: 30 });
  const again = await children(file);
  expect(again.map(({ id, chunk_size }) => ({ id, chunk_size }))).toEqual(
    found.map(({ id }) => ({ id, chunk_size: 30 })),
  );
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);

  await user.post('/delete_files', { file_ids: [file.id], delete_child_files: true });
  for (let remaining = 3; remaining > 0;)
    remaining = (await user.post<{ count: number }>('/user_files_v2', {})).body.count;
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('reads messages attached to messages, down to a maximum depth', async () => {
  const nest = (depth: number): string =>
    message(
      `depth ${depth}`,
      depth === 7
        ? [NOTES]
        : [{ name: `${depth + 1}.eml`, type: 'application/octet-stream', content: nest(depth + 1) }],
    );
  let file = await user.settled((await send(nest(0))).id);
  const names: (string | null)[] = [];
  for (;;) {
    const [child] = await children(file);
    if (!child) break;
    names.push(child.name);
    file = child;
  }
  expect(names).toEqual(['1.eml', '2.eml', '3.eml', '4.eml']);
  expect(file.file_metadata).toMatchObject({
    attachments_skipped: [{ name: '5.eml', reason: expect.stringContaining('4') }],
  });
});

test('counts attachments for max_files_per_upload', async () => {
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  await organization.post('/update_users', { customer_ids: ['att'], max_files_per_upload: 2 });
  const file = await user.settled((await send(message('two', [NOTES, TABLE]))).id);
  expect(file).toMatchObject({ sync_status: 'READY', file_metadata: { limit_reached: 'max_files_per_upload' } });
  expect(await user.children(file.id)).toHaveLength(1);
});
