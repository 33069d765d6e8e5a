import Joi from 'joi';

import { HANDED_OVER } from '../../contract/handedOver.js';
import type { SourceType } from '../../contract/sources.js';
import { orNull } from './fields.js';
import { credential } from './integrations.js';
import { typed } from './inferred.js';

/** What a caller hands over to connect an account that it has credentials of. */
export type HandedOver = { readonly source: SourceType } & Readonly<Record<string, string | undefined>>;

const optional = () => orNull(Joi.string().allow('').max(4_096));
const NAMES = Object.keys(HANDED_OVER) as SourceType[];

/** Sources that ask for the same are one family. */
const FAMILIES = [...new Set(Object.values(HANDED_OVER).map((fields) => fields.join()))].map((fields) => ({
  sources: NAMES.filter((source) => HANDED_OVER[source]?.join() === fields),
  fields: Object.fromEntries(
    fields.split(',').map((field) => (field.endsWith('?') ? [field.slice(0, -1), optional()] : [field, credential()])),
  ),
}));

const sourceOf = (names: readonly SourceType[]) =>
  Joi.string()
    .valid(...names)
    .required();

/** Which fields there are depends on the source. */
export const handedOver = () =>
  typed<HandedOver>(
    Joi.alternatives().conditional('.source', {
      switch: FAMILIES.map(({ sources, fields }) => ({
        is: sourceOf(sources),
        then: Joi.object({ source: sourceOf(sources), ...fields }),
      })),
      // Whatever is of no known source: its fault is told as that of the source.
      otherwise: Joi.object({ source: sourceOf(NAMES) }),
    }),
  ).required();
