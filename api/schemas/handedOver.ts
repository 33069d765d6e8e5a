import Joi from 'joi';

import { CONNECT_CREDENTIALS } from '../../contract/connectCredentials.js';
import type { SourceType } from '../../contract/sources.js';
import { orNull } from './fields.js';
import { credential } from './integrations.js';
import { typed } from './inferred.js';

/** Credentials with which a caller connects an account. */
export type HandedOver = { readonly source: SourceType } & Readonly<Record<string, string | undefined>>;

const optional = () => orNull(Joi.string().allow('').max(4_096));
const NAMES = Object.keys(CONNECT_CREDENTIALS) as SourceType[];

/** Sources with the same credentials share a schema. */
const FAMILIES = [...new Set(Object.values(CONNECT_CREDENTIALS).map((fields) => fields.join()))].map((fields) => ({
  sources: NAMES.filter((source) => CONNECT_CREDENTIALS[source]?.join() === fields),
  fields: Object.fromEntries(
    fields.split(',').map((field) => (field.endsWith('?') ? [field.slice(0, -1), optional()] : [field, credential()])),
  ),
}));

const sourceOf = (names: readonly SourceType[]) =>
  Joi.string()
    .valid(...names)
    .required();

/** The allowed fields depend on the source. */
export const handedOver = () =>
  typed<HandedOver>(
    Joi.alternatives().conditional('.source', {
      switch: FAMILIES.map(({ sources, fields }) => ({
        is: sourceOf(sources),
        then: Joi.object({ source: sourceOf(sources), ...fields }),
      })),
      // For an unknown source, the error is reported for `source`.
      otherwise: Joi.object({ source: sourceOf(NAMES) }),
    }),
  ).required();
