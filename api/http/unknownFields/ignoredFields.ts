import type { Response } from 'express';

import { HttpError, type ValidationDetail } from '../errors.js';
import { MAX_UNKNOWN, type UnknownField } from './fieldTree.js';
import { nearestName } from './nearestName.js';
import { SENT_BY_CLIENTS } from './publishedClients.js';

export const IGNORED_FIELDS_HEADER = 'allotrope-ignored-fields';
/** Maximum length of a path in the header and in the log. */
const MAX_PATH = 100;
const UNPRINTABLE = /[^\x20-\x7E]/gu;

/** Returns a path as text: `body.filters.tag`, `body[0].max_pages`. */
const written = (path: ValidationDetail['loc']): string =>
  path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step.slice(0, MAX_PATH)}`))
    .join('');

/** Returns a text as printable ASCII: other characters as %XX, as structured fields allow no others. */
const printable = (text: string): string =>
  text.toWellFormed().replaceAll(UNPRINTABLE, (letter) => encodeURIComponent(letter));

const short = (text: string): string => (text.length > MAX_PATH ? `${text.slice(0, MAX_PATH - 3)}...` : text);

/** Writes a list of strings as a structured field (https://www.rfc-editor.org/rfc/rfc8941#section-3.1). */
export const stringList = (texts: readonly string[]): string =>
  texts.map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(', ');

/** Returns the paths of unknown fields for the header and the log, bounded in number and length. */
export const shownPaths = (paths: readonly ValidationDetail['loc'][]): readonly string[] =>
  paths.slice(0, MAX_UNKNOWN).map((path) => short(printable(written(path))));

/** Returns the error for an unknown field, with the known name that was probably meant. */
function refusal({ path, knownNames }: UnknownField): ValidationDetail {
  const name = String(path.at(-1));
  const meant = nearestName(name, knownNames);
  const kind = path[0] === 'query' ? 'parameter' : 'field';
  const next = meant === null ? 'Remove it, or check its name in the API reference' : `Did you mean ${meant}?`;
  return { loc: path, msg: `Unknown ${kind}. ${next}`, type: 'extra_forbidden' };
}

/** The unknown fields and parameters of a request. */
export interface IgnoredFields {
  /** Whether the caller requests that a request with unknown fields is refused. */
  readonly isStrict: boolean;
  /**
   * Adds unknown fields to the response header and to the log line of the request.
   * @throws HttpError 422 if the request is strict
   */
  note(found: readonly UnknownField[]): void;
  /** Returns the errors for unknown fields of a request that also has other errors; empty if it is not strict. */
  errorsFor(found: readonly UnknownField[]): readonly ValidationDetail[];
}

/** Returns the paths of fields of this request that were ignored. */
export const ignoredFieldsOf = (response: Response): readonly string[] =>
  (response.locals['ignoredFields'] as readonly string[] | undefined) ?? [];

/** Collects the unknown fields of one request. @param operation path of its operation */
export function collectIgnored(response: Response, isStrict: boolean, operation: string): IgnoredFields {
  const expected = SENT_BY_CLIENTS[operation] ?? [];
  const isExpected = ({ path: [, ...steps] }: UnknownField): boolean => {
    const [name = '', ...more] = steps.filter((step) => typeof step === 'string');
    return more.length === 0 && expected.includes(name);
  };
  return {
    isStrict,
    note(all) {
      const found = all.filter((field) => !isExpected(field));
      if (found.length === 0) return;
      if (isStrict) throw new HttpError(422, found.map(refusal));
      const paths = [...ignoredFieldsOf(response), ...shownPaths(found.map(({ path }) => path))].slice(0, MAX_UNKNOWN);
      response.locals['ignoredFields'] = paths;
      response.setHeader(IGNORED_FIELDS_HEADER, stringList(paths));
    },
    errorsFor: (all) => (isStrict ? all.filter((field) => !isExpected(field)).map(refusal) : []),
  };
}
