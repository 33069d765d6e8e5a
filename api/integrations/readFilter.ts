import { FilterError } from '../../contract/filterTree.js';
import { invalid } from '../http/errors.js';

/** What a caller's filters mean. @throws HttpError 422 that says where they mean nothing */
export function readFilter<T>(given: unknown, read: (filters: unknown) => T): T {
  try {
    return read(given);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw invalid(['body', 'filters', ...error.path], error.message, 'value_error');
  }
}
