import Joi from 'joi';

import { OAUTH_SOURCES } from '../../contract/accounts/whiteLabel.js';
import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentWhiteLabel } from '../presenters/whiteLabel.js';
import { integer } from '../schemas/fields.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { whiteLabelInput, whiteLabelRecord } from '../schemas/whiteLabel.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/** POST /white_label/create: stores OAuth clients, all or none. A second client of a source replaces the first. */
export const createWhiteLabels = operation({
  method: 'post',
  path: '/white_label/create',
  operationId: 'create_white_labels_white_label_create_post',
  tag: 'White Label',
  auth: 'key',
  summary: 'Store OAuth clients',
  description: [
    "Stores the organization's own OAuth clients, one for each source; either all are stored or none. Consent pages then show the name of your client instead of that of the operator (OAUTH_CLIENTS).\n\nA client that exists for the source is replaced with all its secrets and keeps its id. Secrets are stored encrypted and never returned. Accounts that were connected by another client may have to be connected again.",
  ],
  returns: 'Stored clients without their secrets, in the order of the request.',
  errors: { 404: null },
  createsWork: true,
  body: Joi.array().items(whiteLabelInput()).max(OAUTH_SOURCES.length).required(),
  answer: Joi.array().items(whiteLabelRecord),
  async handle({ caller: { organizationId }, body, deps: { store, unit } }) {
    const rows = await unit.transaction((session) => store.whiteLabels.put(organizationId, body, session));
    return rows.map(presentWhiteLabel);
  },
});

/** POST /white_label/update: changes the client of one source; absent fields stay unchanged. */
export const updateWhiteLabel = operation({
  method: 'post',
  path: '/white_label/update',
  operationId: 'update_white_label_white_label_update_post',
  tag: 'White Label',
  auth: 'key',
  summary: 'Change an OAuth client',
  description: [
    'Changes the OAuth client of one source, such as a rotated secret. `client_id` and `redirect_uri` are required; other credentials that are absent, null or empty keep their stored values. Use `POST /white_label/create` to replace all of them. 404 if the organization has no client of this source.',
  ],
  returns:
    'The changed OAuth client, without its secrets. It applies to later consents, and to token refreshes of accounts that a client with the same `client_id` connected.',
  errors: { 404: 'The organization has no OAuth client of this source. Store one with `POST /white_label/create`.' },
  body: whiteLabelInput(),
  answer: whiteLabelRecord,
  async handle({ caller: { organizationId }, body, deps: { store, unit } }) {
    const row = await unit.transaction((session) => store.whiteLabels.change(organizationId, body, session));
    if (!row) throw notFound('white label of this source');
    return presentWhiteLabel(row);
  },
});

/** POST /white_label/delete: deletes the existing clients and ignores unknown ones. */
export const deleteWhiteLabels = operation({
  method: 'post',
  path: '/white_label/delete',
  operationId: 'delete_white_labels_white_label_delete_post',
  tag: 'White Label',
  auth: 'key',
  summary: 'Delete OAuth clients',
  description: [
    "Deletes the organization's own OAuth clients with the given ids; unknown ids are ignored. New connections then use the client of the operator (OAUTH_CLIENTS), if there is one for the source. Data sources and files are not deleted, but accounts that were connected by a deleted client may have to be connected again.",
  ],
  returns: '`success: true`: the clients are deleted. The response is the same for unknown ids.',
  errors: { 404: null },
  body: named(
    'DeleteWhiteLabelRequest',
    Joi.object({
      ids: Joi.array()
        .items(integer())
        .max(MAX_MEMBERS)
        .required()
        .description('Clients to delete, by `id` of `POST /white_label/list`; at most 10,000.'),
    }).description('OAuth clients to delete, by id. Accounts that they connected stay.'),
  ),
  answer: success,
  async handle({ caller: { organizationId }, body, deps: { store } }) {
    await store.whiteLabels.remove(organizationId, body.ids);
    return { success: true };
  },
});
