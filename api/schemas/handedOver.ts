import Joi from 'joi';

import type { SourceType } from '../../contract/sources.js';
import { orNull } from './fields.js';
import { credential } from './integrations.js';

/** What a caller hands over to connect an account that it has credentials of. */
export type HandedOver = { readonly source: SourceType } & Readonly<Record<string, string | undefined>>;

const optional = () => orNull(Joi.string().allow('').max(4_096));
const token = { access_token: credential() };
const tokens = { ...token, refresh_token: optional() };

/** By family of sources: what each needs, as the contract has it. */
const FAMILIES: readonly { readonly sources: readonly SourceType[]; readonly fields: Record<string, Joi.Schema> }[] = [
  {
    sources: ['GOOGLE_DRIVE', 'INTERCOM', 'DROPBOX', 'BOX', 'GMAIL', 'OUTLOOK', 'SLACK', 'GOOGLE_CLOUD_STORAGE'],
    fields: tokens,
  },
  { sources: ['NOTION'], fields: { ...token, workspace_id: credential() } },
  { sources: ['ONEDRIVE'], fields: { ...tokens, tenant_name: optional() } },
  { sources: ['SHAREPOINT'], fields: { ...tokens, tenant_name: optional(), site_name: optional() } },
  { sources: ['CONFLUENCE'], fields: { ...tokens, subdomain: credential() } },
  { sources: ['ZENDESK'], fields: { ...token, subdomain: credential() } },
  {
    sources: ['ZOTERO'],
    fields: { ...token, access_token_secret: credential(), username: credential(), zotero_id: credential() },
  },
  { sources: ['GITBOOK'], fields: { ...token, organization_name: credential() } },
  { sources: ['SALESFORCE'], fields: { ...tokens, domain: credential() } },
  { sources: ['FRESHDESK'], fields: { domain: credential(), api_key: credential() } },
  {
    sources: ['S3'],
    fields: { access_key: credential(), access_key_secret: credential(), endpoint_url: optional() },
  },
  { sources: ['AZURE_BLOB_STORAGE'], fields: { account_name: credential(), account_key: credential() } },
  { sources: ['GITHUB', 'GURU'], fields: { ...token, username: credential() } },
  {
    sources: ['SERVICENOW'],
    fields: {
      ...tokens,
      instance_subdomain: credential(),
      client_id: credential(),
      client_secret: credential(),
      redirect_uri: credential(),
    },
  },
  { sources: ['GONG'], fields: { ...tokens, gong_account_email: credential() } },
];
const NAMES = FAMILIES.flatMap(({ sources }) => sources);

const sourceOf = (names: readonly SourceType[]) =>
  Joi.string()
    .valid(...names)
    .required();

/** Which fields there are depends on the source. */
export const handedOver = () =>
  Joi.alternatives()
    .conditional('.source', {
      switch: FAMILIES.map(({ sources, fields }) => ({
        is: sourceOf(sources),
        then: Joi.object({ source: sourceOf(sources), ...fields }),
      })),
      // Whatever is of no known source: its fault is told as that of the source.
      otherwise: Joi.object({ source: sourceOf(NAMES) }),
    })
    .required();
