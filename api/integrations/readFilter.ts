import { FilterError } from '../../contract/sources/filterTree.js';
import { invalid } from '../http/errors.js';

/** Parses a filter of a request. @throws HttpError 422 with the path of the error */
export function readFilter<T>(given: unknown, read: (filters: unknown) => T): T {
  try {
    return read(given);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw invalid(['body', 'filters', ...error.path], error.message, 'value_error');
  }
}
