import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { request } from 'undici';

import { mountGuide } from '../../api/guide.js';
import { isCurrent } from '../../scripts/guide/sources.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

/** The compiled API, which serves the guide. `prefixed` serves only the guide, as behind a proxy with a path prefix. */
let service: SharedService;
let folder = '';
let prefixed = '';
let close: () => void;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-guide-'));
  await mkdir(path.join(folder, 'sources'));
  await writeFile(path.join(folder, 'index.html'), '<!doctype html><title>Guide</title>');
  const [outer, inner] = [express(), express()];
  mountGuide(inner, folder);
  outer.use('/allotrope', inner);
  const server = outer.listen(0, '127.0.0.1');
  await once(server, 'listening');
  prefixed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/allotrope`;
  close = () => server.close();
});
afterAll(async () => {
  close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test('the service serves a guide that is up to date with its sources', async () => {
  expect(await isCurrent(fileURLToPath(new URL('../../dist/guide', import.meta.url)))).toBe(true);
  const page = await fetch(`${service.url}/guide/sources/box.html`);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await page.text()).toContain('root_readonly');
  expect(await (await fetch(`${service.url}/guide/search.json`)).text()).toContain('webhook');
});

test('the Content-Security-Policy allows pages to load files of this server only, and no inline scripts', async () => {
  const { headers } = await fetch(`${service.url}/guide/`);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('an unchanged page is not sent again', async () => {
  const address = `${service.url}/guide/assets/guide.css`;
  const firstAnswer = await request(address);
  await firstAnswer.body.dump();
  expect(firstAnswer.headers['cache-control']).toBe('no-cache');
  const secondAnswer = await request(address, { headers: { 'if-none-match': String(firstAnswer.headers['etag']) } });
  expect(secondAnswer.statusCode).toBe(304);
});

test('answers 404 for missing pages and for files outside the site', async () => {
  for (const missingPath of ['/guide/none.html', '/guide/..%2fapi/server.js', '/guide/%2e%2e/api/server.js'])
    expect((await fetch(service.url + missingPath)).status).toBe(404);
});

test('behind a path prefix, the address without a final slash redirects to the home page', async () => {
  const page = await fetch(`${prefixed}/guide`);
  expect([page.status, page.url]).toEqual([200, `${prefixed}/guide/`]);
  expect(await page.text()).toContain('<title>Guide</title>');
});
