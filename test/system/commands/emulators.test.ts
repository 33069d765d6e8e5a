/** Tests of `npm run emulator`: a service with the printed settings connects the emulators by the printed API calls. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { type Emulators, startEmulators } from '../../../scripts/demo/emulators.js';
import { everyRow } from '../../support/everyRow.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

const SOURCES = Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[];

/** Address of the service. The service checks that the redirect URL in the call for ServiceNow begins with it. */
const PUBLIC_URL = 'http://127.0.0.1:8000';

let emulators: Emulators;
let service: TestService;
beforeAll(async () => {
  emulators = await startEmulators(SOURCES, PUBLIC_URL);
  service = await startService({ ...emulators.env, PUBLIC_URL });
});
afterAll(async () => {
  await service.close();
  await emulators.close();
});

test('each printed call connects an account or returns the address of a consent page', async () => {
  const user = await service.user('ada');
  await everyRow(
    SOURCES.map((source, index) => ({ source, call: emulators.calls[index]! })),
    ({ source }) => source,
    async ({ source, call }) => {
      const { status, body } = await user.post<{ oauth_url?: string }>(call.path, call.body);
      expect({ status, body }).toMatchObject({ status: 200 });
      expect(call.path === '/integrations/oauth_url').toBe(CONNECTED_SOURCES[source].auth === 'oauth');
      if (body.oauth_url !== undefined) expect(new URL(body.oauth_url).hostname).toBe('127.0.0.1');
    },
  );
});

test('the documents of an emulator become searchable', async () => {
  const user = await service.user('grace');
  const { path, body } = emulators.calls[SOURCES.indexOf('FRESHDESK')]!;
  await user.post(path, body);
  const search = () =>
    user.post<{ documents: { content: string }[] }>('/embeddings', { query: 'When was the lighthouse lit?', k: 1 });
  // Until the expected document is synced, the search returns a chunk of another document.
  await waitFor(search, ({ body: { documents } }) => documents[0]?.content.includes('The lighthouse') === true);
});
