/**
 * Names of the fields that Document360 publishes: https://apihub.document360.io/swagger/v2/swagger.json (2.0). It
 * publishes no types for JavaScript.
 */

type Fields<Name extends string> = Record<Name, unknown>;
type DateFields = 'created_at' | 'modified_at';

export type D360Envelope = Fields<'data' | 'extension_data' | 'success' | 'errors' | 'warnings' | 'information'>;
export type D360Error = Fields<'extension_data' | 'stack_trace' | 'description' | 'error_code' | 'custom_data'>;
/** A workspace; the API calls it a project version. */
export type D360ProjectVersion = Fields<
  | DateFields
  | 'id'
  | 'version_number'
  | 'version_code_name'
  | 'is_main_version'
  | 'language_versions'
  | 'slug'
  | 'order'
  | 'version_type'
>;
export type D360Language = Fields<'id' | 'name' | 'code' | 'set_as_default' | 'hidden' | 'display_name'>;
export type D360Category = Fields<
  | DateFields
  | 'id'
  | 'name'
  | 'description'
  | 'order'
  | 'parent_category_id'
  | 'hidden'
  | 'articles'
  | 'child_categories'
  | 'slug'
  | 'category_type'
  | 'status'
  | 'content_type'
>;
type ArticleField =
  | 'id'
  | 'title'
  | 'public_version'
  | 'latest_version'
  | 'hidden'
  | 'status'
  | 'order'
  | 'slug'
  | 'content_type'
  | 'is_shared_article'
  | 'modified_at';
/** An article in a listing. */
export type D360ListedArticle = Fields<ArticleField | 'language_code'>;
/** A version of an article. */
export type D360Article = Fields<
  | ArticleField
  | 'content'
  | 'html_content'
  | 'category_id'
  | 'project_version_id'
  | 'version_number'
  | 'created_at'
  | 'is_fall_back_content'
  | 'description'
  | 'url'
>;
