/**
 * Names of the fields that Confluence Cloud publishes in its OpenAPI document of v2:
 * https://developer.atlassian.com/cloud/confluence/rest/v2/intro/.
 */
export type Space = Record<'id' | 'key' | 'name' | 'type' | 'status' | 'createdAt' | 'homepageId' | '_links', unknown>;
type Placed = 'parentId' | 'parentType' | 'spaceId' | 'position';
/** A page, a blog post or a folder, or an entry of a list of children. */
export type Content = Record<
  'id' | 'type' | 'status' | 'title' | 'createdAt' | 'version' | 'body' | '_links' | Placed,
  unknown
>;
export type Version = Record<'number' | 'createdAt' | 'message' | 'minorEdit' | 'authorId', unknown>;
