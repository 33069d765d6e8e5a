/** Tests which file name the published TypeScript SDK sends. docs/api/files.md documents the result. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { Carbon } from 'carbon-typescript-sdk';

const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n');

test('the SDK names bytes by the form field and their type, and keeps the name of a File', async () => {
  const names: unknown[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      names.push(/filename="([^"]*)"/.exec(Buffer.concat(parts).toString('latin1'))?.[1]);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const basePath = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { files } = new Carbon({ basePath, apiKey: 'a', customerId: 'c' });
  await files.upload({ file: PDF });
  await files.upload({ file: Buffer.from('words') });
  await files.upload({ file: new File([PDF], 'report 2024.pdf') });
  server.close();
  expect(names).toEqual(['file.pdf', 'file', 'report 2024.pdf']);
});
