import Joi from 'joi';

import { CREDENTIAL_FAMILIES, SECRET_CREDENTIALS, type WhiteLabelInput } from '../../contract/accounts/whiteLabel.js';
import { redirectUri } from './deploymentRules.js';
import { integer, orNull, timestamp } from './fields.js';
import { typed } from './inferred.js';
import { named, hidden } from './reference.js';
import { oauthSource } from './enums.js';

/** Maximum length of a credential. */
const MAX_CREDENTIAL = 10_000;

/** Descriptions of the credentials. */
const TEXTS: Readonly<Record<string, string>> = {
  client_id: 'Id of the OAuth client, as the provider shows it. At most 10,000 characters.',
  redirect_uri:
    'Address registered at the provider to which it sends users back: http(s), without credentials and `#`. It must lead to the path `/integrations/…` of the source on this service. Other schemes need the setting REDIRECT_URI_SCHEMES.',
  client_secret:
    'Secret of the OAuth client; stored encrypted and never returned. Absent, null and `""`: none; in an update, the stored one stays.',
  api_key:
    'API key for the Google Picker (file chooser); stored encrypted and never returned. Absent, null and `""`: none; in an update, the stored one stays.',
  file_picker_client_id:
    'Id of the OAuth client for the Microsoft file picker. Absent, null and `""`: none; in an update, the stored one stays.',
  file_picker_redirect_uri:
    'Address to which the Microsoft file picker sends users back. Absent, null and `""`: none; in an update, the stored one stays.',
};

const credentialText = () => Joi.string().max(MAX_CREDENTIAL);
const fieldOf = (name: string) =>
  name.endsWith('redirect_uri') ? credentialText().custom(redirectUri) : credentialText();
/** Returns an optional field. Null and '' mean absent. */
const optional = (name: string) => orNull(fieldOf(name).allow('')).description(TEXTS[name] ?? '');

/**
 * Names of the schemas in the reference for clients that have credentials besides id, secret and redirect address. The
 * key is the first of these further credentials.
 */
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
        .required()
        .description(
          'Source whose accounts are connected by this client. An organization has at most one client for each source.',
        ),
      credentials: named(
        namesOf(extras).credentials,
        Joi.object({
          client_id: credentialText()
            .required()
            .description(TEXTS['client_id'] ?? ''),
          redirect_uri: fieldOf('redirect_uri')
            .required()
            .description(TEXTS['redirect_uri'] ?? ''),
          client_secret: optional('client_secret'),
          ...Object.fromEntries(extras.map((name) => [name, optional(name)])),
        }).description('Credentials of an OAuth client, as registered at the provider, such as Google or Microsoft.'),
      )
        .required()
        .description(
          'Id, secret and redirect address of the client. Some sources have further fields for file pickers.',
        ),
    }).description("An organization's own OAuth client for one source, used instead of that of the operator."),
  ),
}));

// For an unknown source, this schema reports the error at `data_source_type`.
const anyElement = hidden(
  Joi.object({ data_source_type: oauthSource().required(), credentials: Joi.object().required() }),
);

/** Returns the schema of an organization's own OAuth client for a source; its credentials depend on the source. */
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
    id: integer()
      .required()
      .description(
        'Id of the OAuth client in this service, for `POST /white_label/delete`. The id at the provider is `client_id` in `credentials`.',
      ),
    data_source_type: oauthSource()
      .required()
      .description(
        'Source whose accounts are connected by this client. An organization has at most one client for it.',
      ),
    credentials: named(
      'WhiteLabelCredentials',
      Joi.object({
        client_id: Joi.string()
          .required()
          .description('Id of the OAuth client, as the provider shows it. It is not secret.'),
        redirect_uri: Joi.string()
          .required()
          .description('Address to which the provider sends users back after their consent.'),
        file_picker_client_id: Joi.string().description(
          'Id of the OAuth client for the Microsoft file picker. Absent if none was given.',
        ),
        file_picker_redirect_uri: Joi.string().description(
          'Address to which the Microsoft file picker sends users back. Absent if none was given.',
        ),
        ...Object.fromEntries(
          SECRET_CREDENTIALS.map((name) => [
            `has_${name}`,
            Joi.boolean().required().description(`Whether \`${name}\` is stored. Its value is never returned.`),
          ]),
        ),
      }).description(
        'Credentials of an OAuth client without its secrets. For these, `has_…` says whether they are stored.',
      ),
    )
      .required()
      .description('Stored credentials of the client. Instead of secrets, `has_…` says whether they are stored.'),
    created_at: timestamp()
      .required()
      .description('When a client of this source was first stored, in UTC. Replacing it keeps this time.'),
    updated_at: timestamp()
      .required()
      .description('When its credentials were last replaced or changed, in UTC. Equal to `created_at` before that.'),
  }).description("An organization's own OAuth client for one source, without its secrets."),
);
