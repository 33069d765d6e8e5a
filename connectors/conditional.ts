import type { Validators } from './types.js';

/** Returns the headers of a conditional request: the server answers 304 if the known content is still current. */
export const conditions = (validators: Validators | null): Record<string, string> => ({
  ...(validators?.etag ? { 'if-none-match': validators.etag } : {}),
  ...(validators?.lastModified ? { 'if-modified-since': validators.lastModified } : {}),
});

/** Returns the validators of an answer, for a later conditional request. */
export const validatorsOf = (headers: Readonly<Record<string, string>>): Validators => ({
  etag: headers['etag'] ?? null,
  lastModified: headers['last-modified'] ?? null,
});
