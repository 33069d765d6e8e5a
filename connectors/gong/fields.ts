/**
 * Names of the fields that Gong publishes: https://gong.app.gong.io/ajax/settings/api/documentation/specs?version=
 * (V2). It publishes no types for JavaScript.
 */

type Fields<Name extends string> = Record<Name, unknown>;

/** A page of a list, or a whole list. */
export type GongAnswer = Fields<'requestId' | 'records' | 'calls' | 'callTranscripts' | 'workspaces' | 'folders'>;
export type GongRecords = Fields<'totalRecords' | 'currentPageSize' | 'currentPageNumber' | 'cursor'>;
export type GongWorkspace = Fields<'id' | 'name' | 'description'>;
export type GongFolder = Fields<'id' | 'name' | 'parentFolderId' | 'createdBy' | 'updated'>;
/** A call in a listing, and the `metaData` of its details. */
export type GongCall = Fields<
  | 'id'
  | 'url'
  | 'title'
  | 'scheduled'
  | 'started'
  | 'duration'
  | 'primaryUserId'
  | 'direction'
  | 'system'
  | 'scope'
  | 'media'
  | 'language'
  | 'workspaceId'
  | 'purpose'
  | 'isPrivate'
>;
export type GongCallDetails = Fields<
  'metaData' | 'context' | 'parties' | 'content' | 'interaction' | 'collaboration' | 'media'
>;
export type GongParty = Fields<
  'id' | 'emailAddress' | 'name' | 'title' | 'userId' | 'speakerId' | 'affiliation' | 'phoneNumber' | 'methods'
>;
export type GongTranscript = Fields<'callId' | 'transcript'>;
export type GongMonologue = Fields<'speakerId' | 'topic' | 'sentences'>;
export type GongSentence = Fields<'start' | 'end' | 'text'>;
