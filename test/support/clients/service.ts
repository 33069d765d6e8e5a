/** Starts a service with one file, and writes its API reference to a folder in which clients can be generated. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { FileRecord } from '../../../contract/files/records.js';
import { startService } from '../service.js';

export interface ClientService {
  readonly url: string;
  /** Access token of the user who has the file named `harbour`. */
  readonly token: string;
  /** A folder that contains only the API reference (openapi.json). */
  readonly folder: string;
  /** Path of the API reference in `folder`. */
  readonly document: string;
  close(): Promise<void>;
}

/** Starts a service for generated clients. */
export async function startClientService(): Promise<ClientService> {
  const service = await startService({}, { worker: false });
  const user = await service.user('ada');
  const { body } = await user.post<FileRecord>('/upload_text', {
    contents: 'Lanterns of the harbour',
    name: 'harbour',
  });
  await user.post('/create_user_file_tags', { organization_user_file_id: body.id, tags: { town: 'Anholt' } });
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-clients-'));
  const document = path.join(folder, 'openapi.json');
  await writeFile(document, await (await fetch(`${service.url}/openapi.json`)).text());
  return {
    ...{ url: service.url, token: user.token, folder, document },
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
