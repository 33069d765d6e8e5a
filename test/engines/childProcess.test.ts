import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { findPort } from '../../engines/ports.js';
import { startChild } from '../../engines/process.js';
import { findPython } from '../../engines/python.js';
import { run } from '../../engines/run.js';

let dataDir: string;
beforeEach(() => void (dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-child-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

test('abandons the start of an engine that never responds', async () => {
  const port = await findPort('free');
  const stopping = new AbortController();
  const start = startChild({
    ...{ name: 'qdrant', dataDir, port, signal: stopping.signal, python: await findPython() },
    program: process.execPath,
    args: ['-e', `require('node:net').createServer().listen(${port}, '127.0.0.1')`],
    isReady: () => {
      setImmediate(() => stopping.abort());
      return new Promise(() => undefined);
    },
  });
  await expect(start).rejects.toThrow('qdrant did not start: it was stopped');
});

test('names the time limit of a program that was stopped because of it', async () => {
  const endless = run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 100 });
  await expect(endless).rejects.toThrow('did not end within 0.1 s');
});
