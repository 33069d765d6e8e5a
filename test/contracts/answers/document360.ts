/**
 * Answers of Document360, from its OpenAPI document. It marks no field as required, but its examples contain all
 * fields, and the server omits none: https://github.com/run-llama/llama_index reads each without a default.
 */
import {
  always,
  anyObject,
  each,
  eitherOf,
  flag,
  integer,
  listOf,
  number,
  object,
  orNull,
  type Shape,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
/** A time in UTC; none of the examples has a time zone. */
const time: Shape = { type: 'string', pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?$/ };
const nullableTime = orNull(time);
const code = (...allowed: readonly number[]): Shape => ({ type: 'integer', enum: allowed.map(String) });
const objectOf = (fields: Readonly<Record<string, Shape>>): Shape => object(fields, Object.keys(fields));

/** 0: draft, 3: published. */
const status = code(0, 3);
/** 0: Markdown, 1: WYSIWYG, 2: blocks. */
const contentType = orNull(code(0, 1, 2));
/** 0: folder, 1: page, 2: index. */
const categoryType = code(0, 1, 2);
const translation = code(0, 1, 2, 3);

const language = objectOf({
  ...each(nullableText, 'id', 'name', 'code', 'country_flag_code', 'display_name', 'version_display_name'),
  ...each(flag, 'set_as_default', 'hidden', 'enable_rtl', 'is_inheritance_disabled', 'is_home_page_enabled'),
  ...{ has_inheritance_disabled_categories_or_articles: flag, site_protection_level: code(0, 1, 2) },
});
const projectVersion = objectOf({
  ...{ id: text, ...each(number, 'version_number', 'base_version_number'), version_code_name: nullableText },
  ...each(flag, 'is_main_version', 'is_beta', 'is_public', 'is_deprecated'),
  ...{ ...each(time, 'created_at', 'modified_at'), language_versions: orNull(listOf(language)), slug: nullableText },
  // 0: knowledge base, 1: API reference.
  ...{ order: integer, version_type: code(0, 1) },
});
const listedArticle = objectOf({
  ...{
    id: text,
    ...each(nullableText, 'title', 'language_code', 'slug'),
    ...each(integer, 'public_version', 'latest_version'),
  },
  ...{ hidden: flag, status, order: integer, content_type: contentType, translation_option: translation },
  ...{ is_shared_article: flag, modified_at: nullableTime },
});
/** The subcategories of a category; `items` is set below, because the shape refers to itself. */
const subcategories: { type: 'array'; isNullable: true; items?: Shape } = { type: 'array', isNullable: true };
const category = objectOf({
  ...{
    id: text,
    ...each(nullableText, 'name', 'description', 'project_version_id', 'parent_category_id', 'icon', 'slug'),
  },
  ...{ language_code: nullableText, order: integer, hidden: flag, articles: orNull(listOf(listedArticle)) },
  ...{
    child_categories: subcategories,
    category_type: categoryType,
    ...each(nullableTime, 'created_at', 'modified_at'),
  },
  ...{ status: orNull(status), content_type: contentType },
});
subcategories.items = category;

const author = object({
  ...each(nullableText, 'id', 'first_name', 'last_name', 'user_description', 'unique_user_name', 'email_id'),
  ...{ ...each(nullableText, 'profile_logo_url', 'profile_logo_cdn_url'), is_enterprise_user: flag },
});
const article = objectOf({
  ...{
    id: text,
    ...each(nullableText, 'title', 'content', 'html_content', 'category_id', 'project_version_id', 'slug', 'url'),
  },
  ...each(integer, 'version_number', 'public_version', 'latest_version', 'order'),
  ...each(flag, 'enable_rtl', 'hidden', 'is_fall_back_content', 'is_shared_article'),
  ...{ status, ...each(nullableText, 'created_by', 'description'), authors: orNull(listOf(author)) },
  ...{ ...each(time, 'created_at', 'modified_at'), category_type: orNull(categoryType), content_type: contentType },
  translation_option: translation,
});

const notes = (...names: readonly string[]): Shape =>
  orNull(listOf(object({ extension_data: orNull(anyObject), ...each(nullableText, 'description', ...names) })));
const error = object({
  ...{ extension_data: orNull(anyObject), ...each(nullableText, 'stack_trace', 'description', 'error_code') },
  custom_data: orNull(anyObject),
});
const envelope = {
  ...{ extension_data: orNull(anyObject), success: flag, errors: orNull(listOf(error)) },
  ...{ warnings: notes('warning_code'), information: notes() },
};
/** An answer with data, or an error with status 200. */
const answer = (data: Shape): Shape =>
  eitherOf(
    objectOf({ ...envelope, data, success: always(true) }),
    object({ ...envelope, success: always(false) }, ['success']),
  );

export const document360: AnswerTable = {
  name: 'document360',
  specification: 'https://github.com/twardoch/d361api/blob/5f26903/swagger.json',
  version: '2.0',
  takenOn: '2026-11-27',
  refusal: objectOf(envelope),
  operations: {
    'GET /v2/ProjectVersions': answer(orNull(listOf(projectVersion))),
    'GET /v2/ProjectVersions/{projectVersionId}/categories': answer(orNull(listOf(category))),
    'GET /v2/Articles/{articleId}/{langCode}': answer(orNull(article)),
  },
};
