import type { Refusal, SourceClient } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';

import { type Answer, asAnswer, asText } from '../json.js';
import type { SlackAnswer, SlackMetadata } from './fields.js';
import { incompleteAnswer } from '../faults.js';

/** Slack's error codes by meaning; most come with status 200. */
const REFUSALS: Readonly<Record<ErrorClass, readonly string[]>> = {
  auth_revoked: ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive'],
  forbidden_item: [
    ...['not_in_channel', 'missing_scope', 'no_permission', 'access_denied', 'restricted_action', 'ekm_access_denied'],
    ...['enterprise_is_restricted', 'team_access_not_granted', 'org_login_required', 'not_allowed_token_type'],
    ...['method_not_supported_for_channel_type'],
  ],
  not_found: ['channel_not_found', 'thread_not_found', 'message_not_found', 'user_not_found', 'user_not_visible'],
  rate_limited: ['ratelimited', 'rate_limited'],
  // The first one: the workspace is being moved into an organization.
  // https://docs.slack.dev/reference/methods/auth.test
  server: ['team_added_to_org', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'],
  not_exportable: [],
  // Cursors expire: https://docs.slack.dev/apis/web-api/pagination
  cursor_invalid: ['invalid_cursor'],
  config: [],
  api_disabled: [],
};
const CLASSES = new Map(
  Object.entries(REFUSALS).flatMap(([errorClass, words]) => words.map((word) => [word, errorClass as ErrorClass])),
);

/** Returns the error code of an answer with `ok: false`; null for others. */
export const refusalIn = (body: unknown): string | null => {
  const { ok, error } = asAnswer<SlackAnswer>(body);
  return ok === false ? (asText(error) ?? 'unknown') : null;
};
export const classify = ({ body }: Refusal): ErrorClass | null => CLASSES.get(refusalIn(body) ?? '') ?? null;

export interface Page {
  readonly answer: Answer<SlackAnswer>;
  /** Null after the last page. */
  readonly next: string | null;
}

/** Calls a method of the Web API, with a form: Slack's read methods accept no JSON. */
export async function callApi(
  client: SourceClient,
  method: string,
  parameters: Readonly<Record<string, string | null>>,
): Promise<Page> {
  const form = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null));
  const answer = asAnswer<SlackAnswer>(await client.post([method], form, { asForm: true }));
  // Every answer has `ok`: https://docs.slack.dev/apis/web-api/#responses
  if (answer.ok !== true) throw incompleteAnswer('Slack', 'its field ok');
  // An empty cursor marks the end; a repeated one would loop for ever.
  const next = asText(asAnswer<SlackMetadata>(answer.response_metadata).next_cursor);
  return { answer, next: next === parameters['cursor'] ? null : next };
}
