import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { residentBytes } from '../../documents/residentBytes.js';

test('reads the resident memory of a process from its kilobytes, not from its number of memory pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'allotrope-proc-'));
  try {
    mkdirSync(join(folder, '7'));
    // As a kernel with pages of 64 KB reports it.
    writeFileSync(join(folder, '7', 'status'), 'Name:\tnode\nVmHWM:\t  128000 kB\nVmRSS:\t   64000 kB\nThreads:\t1\n');
    writeFileSync(join(folder, '7', 'statm'), '4000 1000 300 1 0 1500 0\n');
    expect(residentBytes(7, folder)).toBe(65_536_000);
    expect([residentBytes(8, folder), residentBytes(null)]).toEqual([0, 0]);
    expect(residentBytes(process.pid)).toBeGreaterThan(10_000_000);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
