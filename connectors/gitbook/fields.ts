/**
 * Names of the fields that GitBook publishes, copied from the OpenAPI document of @gitbook/api 0.202.0. The package is
 * not installed for its types, because it contains a client with dependencies.
 */

type Fields<Name extends string> = Record<Name, unknown>;
type DateFields = 'createdAt' | 'updatedAt';

export type GitBookUrls = Fields<'location' | 'app' | 'published' | 'public' | 'icon' | 'logo'>;
export type GitBookSpace = Fields<
  DateFields | 'object' | 'id' | 'title' | 'emoji' | 'visibility' | 'deletedAt' | 'urls' | 'organization' | 'parent'
>;
/** A list of spaces. */
export type GitBookSpaces = Fields<'items' | 'next' | 'count'>;
/** The position of the next page of a list. */
export type GitBookNext = Fields<'page'>;
export type GitBookPage = Fields<
  | DateFields
  | 'id'
  | 'title'
  | 'type'
  | 'kind'
  | 'slug'
  | 'path'
  | 'description'
  | 'hidden'
  | 'urls'
  | 'pages'
  | 'tags'
  | 'documentId'
  | 'markdown'
>;
/** The tree of the pages of a space. */
export type GitBookContent = Fields<'pages'>;
export type GitBookUser = Fields<'object' | 'id' | 'displayName' | 'email' | 'photoURL' | 'urls'>;
export type GitBookOrganization = Fields<
  'object' | 'id' | 'title' | 'createdAt' | 'emailDomains' | 'hostname' | 'urls'
>;
