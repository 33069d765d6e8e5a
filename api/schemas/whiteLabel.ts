import Joi from 'joi';

import { CREDENTIAL_FAMILIES, SECRET_CREDENTIALS, type WhiteLabelInput } from '../../contract/whiteLabel.js';
import { redirectUri } from './deploymentRules.js';
import { integer, orNull, timestamp } from './fields.js';
import { typed } from './inferred.js';
import { named, hidden } from './reference.js';
import { oauthSource } from './enums.js';

/** Maximum length of a credential. */
const MAX_CREDENTIAL = 10_000;

const given = () => Joi.string().max(MAX_CREDENTIAL);
const fieldOf = (name: string) => (name.endsWith('redirect_uri') ? given().custom(redirectUri) : given());
/** Null and '' mean absent. */
const optional = (name: string) => orNull(fieldOf(name).allow(''));

/** Names of the schemas in the reference, by an extra credential of their family. */
const FAMILY_NAMES: Readonly<Record<string, { readonly element: string; readonly credentials: string }>> = {
  api_key: { element: 'GoogleDriveWhiteLabelInput', credentials: 'GoogleDriveCredentials' },
  file_picker_client_id: {
    element: 'OneDriveSharepointWhiteLabelInput',
    credentials: 'OneDriveSharepointCredentials',
  },
};
const namesOf = ([extra = '']: readonly string[]) =>
  FAMILY_NAMES[extra] ?? { element: 'WhiteLabelInput', credentials: 'Credentials' };

const elements = CREDENTIAL_FAMILIES.map(({ sources, extras }) => ({
  sources,
  schema: named(
    namesOf(extras).element,
    Joi.object({
      data_source_type: Joi.string()
        .valid(...sources)
        .required(),
      credentials: named(
        namesOf(extras).credentials,
        Joi.object({
          client_id: given().required(),
          redirect_uri: fieldOf('redirect_uri').required(),
          client_secret: optional('client_secret'),
          ...Object.fromEntries(extras.map((name) => [name, optional(name)])),
        }),
      ).required(),
    }),
  ),
}));

// For an unknown source, the error is reported for the type.
const anyElement = hidden(
  Joi.object({ data_source_type: oauthSource().required(), credentials: Joi.object().required() }),
);

/** An organization's own OAuth client for a source; its credentials depend on the source. */
export const whiteLabelInput = () =>
  typed<WhiteLabelInput>(
    Joi.alternatives().conditional('.data_source_type', {
      switch: elements.map(({ sources, schema }) => ({
        is: Joi.string()
          .valid(...sources)
          .required(),
        then: schema,
      })),
      otherwise: anyElement,
    }),
  );

export const whiteLabelRecord = named(
  'WhiteLabel',
  Joi.object({
    id: integer().required(),
    data_source_type: oauthSource().required(),
    credentials: named(
      'WhiteLabelCredentials',
      Joi.object({
        client_id: Joi.string().required(),
        redirect_uri: Joi.string().required(),
        file_picker_client_id: Joi.string(),
        file_picker_redirect_uri: Joi.string(),
        ...Object.fromEntries(SECRET_CREDENTIALS.map((name) => [`has_${name}`, Joi.boolean().required()])),
      }),
    ).required(),
    created_at: timestamp().required(),
    updated_at: timestamp().required(),
  }),
);
