/**
 * Parts that are common to the answers of all Google APIs. Discovery documents name and type all fields, but require
 * none.
 */
import { anyObject, digits, each, eitherOf, integer, listOf, object, type Shape, text } from '../shape.js';

/**
 * Returns the origin of the shapes of one API.
 * @param revision revision of the API's discovery document in google-api-python-client 2.202.0
 */
export const discovered = (api: string, revision: string) =>
  ({
    specification: `https://www.googleapis.com/discovery/v1/apis/${api}/rest`,
    version: revision,
    takenOn: '2026-11-27',
    masks: {},
  }) as const;

export const counts = <N extends string>(...names: readonly N[]): Record<N, Shape> => each(integer, ...names);
export const long = digits;

/** The fixed text that identifies a type of resource. */
export const kindOf = (name: string): Shape => ({ type: 'string', enum: [name] });

const entry = object(each(text, 'domain', 'reason', 'message', 'locationType', 'location', 'extendedHelp'), [
  ...['domain', 'reason', 'message'],
]);
/**
 * Refusals of Drive, Gmail and Cloud Storage. https://developers.google.com/workspace/drive/api/guides/handle-errors,
 * https://cloud.google.com/storage/docs/json_api/v1/status-codes
 */
const withErrors = object(
  {
    error: object(
      { code: integer, ...each(text, 'message', 'status'), errors: listOf(entry), details: listOf(anyObject) },
      [...['code', 'message', 'errors']],
    ),
  },
  ['error'],
);
/** Refusals of newer APIs, whose reason is in an entry of type ErrorInfo. https://google.aip.dev/193 */
const withStatus = object(
  {
    error: object({ code: integer, ...each(text, 'message', 'status'), details: listOf(anyObject) }, [
      ...['code', 'message', 'status'],
    ]),
  },
  ['error'],
);
export const refusal = withErrors;
export const statusRefusal = eitherOf(withErrors, withStatus);
