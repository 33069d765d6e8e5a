import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { openApi } from '../../cli/api.js';
import type { Call } from '../../cli/command.js';

let server: Server;
let answer: readonly [status: number, body: string];
beforeAll(async () => {
  server = createServer((_request, response) => response.writeHead(answer[0]).end(answer[1]));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

const open = () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return openApi({ text: () => url, terminal: { env: { API_KEY: 'alk_0123456789abcdef' } } } as unknown as Call);
};

test('reports the status of an answer without JSON, such as the page of a reverse proxy', async () => {
  answer = [502, '<html>Bad Gateway</html>'];
  await expect(open().get('/whoami')).rejects.toThrow(/whoami answers HTTP 502.*Check the reverse proxy/);
  answer = [409, '{"detail":"Nothing is held."}'];
  await expect(open().get('/whoami')).rejects.toThrow('/whoami failed with HTTP 409: Nothing is held.');
  answer = [200, '{"a":1}'];
  expect(await open().get('/whoami')).toEqual({ a: 1 });
});
