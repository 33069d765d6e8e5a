/** Readers of answers in which nothing is sure. */
import { Fault } from '../contract/failures.js';

/** An answer, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one where it is none. */
export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
/** A text that says something; null for all else. */
export const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Longest name that is kept of a thing; people cannot read more. */
const LONGEST_NAME = 1_000;
const LONGEST_ADDRESS = 2_048;

/** What something is called; null for what has no name. */
export const asName = (value: unknown): string | null => asText(value)?.slice(0, LONGEST_NAME) ?? null;
/** A point in time as ISO 8601; null for what is none. */
export function asMoment(value: unknown): string | null {
  const at = Date.parse(asText(value) ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
/** An address that a person can open; null for what is none. */
export const asLink = (value: unknown): string | null => {
  const link = asText(value);
  return link !== null && link.length <= LONGEST_ADDRESS && /^https?:\/\//.test(link) ? link : null;
};

/** Nothing else can be sent in a header, so it is the token of nobody. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
export const bearer = ({ accessToken }: { readonly accessToken: string }): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${TOKEN.test(accessToken) ? accessToken : 'none'}`,
});

/** What is told of facts that may not be there. */
export const told = (facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined));

/** The Fault for a success that lacks what was asked for: taken for an empty list, all it should have held would be deleted. */
export const incompleteAnswer = (source: string, lacking: string): Fault =>
  new Fault('server_error', `${source} gave an answer without ${lacking}. It is tried again by itself.`);
