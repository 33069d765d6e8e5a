import { invalid } from './errors.js';

/** Parses the id in a path. @throws HttpError 422 if it is no valid integer */
export function pathId(params: Readonly<Record<string, string>>, name: string): number {
  const text = params[name] ?? '';
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) throw invalid(['path', name], 'Must be an integer', 'int_type');
  return id;
}
