import type { Validators } from './types.js';

/** Headers that ask for an answer only if it is another than the known one. */
export const conditions = (known: Validators | null): Record<string, string> => ({
  ...(known?.etag ? { 'if-none-match': known.etag } : {}),
  ...(known?.lastModified ? { 'if-modified-since': known.lastModified } : {}),
});

/** By what the server will know this answer again. */
export const validatorsOf = (headers: Readonly<Record<string, string>>): Validators => ({
  etag: headers['etag'] ?? null,
  lastModified: headers['last-modified'] ?? null,
});
