/**
 * Names of the fields that Guru documents, or that its own client reads: https://developer.getguru.com/docs/cards,
 * https://github.com/guruhq/py-sdk (685ca65). It publishes no types for JavaScript.
 */

type Fields<Name extends string> = Record<Name, unknown>;

export type GuruCollection = Fields<
  'id' | 'name' | 'description' | 'slug' | 'homeBoardSlug' | 'collectionType' | 'color' | 'dateCreated' | 'roles'
>;
export type GuruFolder = Fields<
  'type' | 'itemId' | 'id' | 'title' | 'description' | 'slug' | 'collection' | 'home' | 'lastModified'
>;
export type GuruCard = Fields<
  | 'type'
  | 'itemId'
  | 'id'
  | 'preferredPhrase'
  | 'content'
  | 'slug'
  | 'collection'
  | 'boards'
  | 'archived'
  | 'cardType'
  | 'version'
  | 'shareStatus'
  | 'verificationState'
  | 'dateCreated'
  | 'lastModified'
>;
export type GuruTeam = Fields<'id' | 'name' | 'status' | 'dateCreated'>;
export type GuruUser = Fields<'id' | 'email' | 'firstName' | 'lastName' | 'status'>;
/** The owner of a token. */
export type GuruIdentity = GuruUser & Fields<'team' | 'user'>;
